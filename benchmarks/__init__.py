"""Measurements, beside the package: `python -m benchmarks.NAME` runs one, `make bench` all of them."""
