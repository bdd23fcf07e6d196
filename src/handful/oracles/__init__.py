"""Answers without people: oracles that answer from a known objective, with noise."""

from __future__ import annotations

from handful.core.responses import bernoulli, btl, gaussian, linear, saturating, uniform
from handful.oracles.simulated import Compares, Noisy, compares, noisy

__all__ = ["Compares", "Noisy", "bernoulli", "btl", "compares", "gaussian", "linear", "noisy", "saturating", "uniform"]
