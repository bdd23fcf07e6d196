"""`certified`."""
