"""Maximizing functions that can be computed: greedy in its variants, constraints, certificates, and checks."""

from __future__ import annotations
