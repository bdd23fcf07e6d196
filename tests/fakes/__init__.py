"""Services that tests speak to over HTTP instead of the real ones."""
