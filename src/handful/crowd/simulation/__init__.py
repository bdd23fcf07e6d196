"""Simulated people who answer over HTTP, their client, and the demo."""
