"""Answers without people: cascades, simulators, information in data, and known objectives with noise."""

from __future__ import annotations

from handful.core.responses import bernoulli, btl, gaussian, linear, saturating, uniform
from handful.oracles.averaging import Averaged, sample_average
from handful.oracles.cascades import CompetingCascades, IndependentCascade, LinearThreshold
from handful.oracles.information import InformationGain
from handful.oracles.simulated import Compares, Noisy, compares, noisy
from handful.oracles.simulators import SimulatedGain, SimulatedSet, noisy_function

__all__ = [
    "Averaged",
    "Compares",
    "CompetingCascades",
    "IndependentCascade",
    "InformationGain",
    "LinearThreshold",
    "Noisy",
    "SimulatedGain",
    "SimulatedSet",
    "bernoulli",
    "btl",
    "compares",
    "gaussian",
    "linear",
    "noisy",
    "noisy_function",
    "sample_average",
    "saturating",
    "uniform",
]
