"""Measuring: what a study will cost, benchmarks, the figures of the paper, and collections drawn for both."""
