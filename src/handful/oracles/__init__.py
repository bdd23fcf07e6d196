"""Answers without people: cascades, simulators, information in data, and known objectives with noise."""

from __future__ import annotations

from handful.oracles.cascades import CompetingCascades, IndependentCascade, LinearThreshold
from handful.oracles.information import InformationGain
from handful.oracles.simulators import (
    Averaged,
    Chooses,
    Compares,
    Noisy,
    Portfolio,
    SimulatedGain,
    SimulatedSet,
    chooses,
    compares,
    noisy,
    noisy_function,
    sample_average,
)
from handful.responses import bernoulli, btl, gaussian, linear, saturating, tastes, uniform

__all__ = [
    "Averaged",
    "Chooses",
    "Compares",
    "CompetingCascades",
    "IndependentCascade",
    "InformationGain",
    "LinearThreshold",
    "Noisy",
    "Portfolio",
    "SimulatedGain",
    "SimulatedSet",
    "bernoulli",
    "btl",
    "chooses",
    "compares",
    "gaussian",
    "linear",
    "noisy",
    "noisy_function",
    "sample_average",
    "saturating",
    "tastes",
    "uniform",
]
