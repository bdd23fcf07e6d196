"""The web server: routes, guard, rate limits, event streams, templates and static files."""
