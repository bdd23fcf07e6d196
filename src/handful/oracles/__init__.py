"""Answers without people: cascades, simulators, information in data, and known objectives with noise."""

from __future__ import annotations

from handful.oracles.averaging import Averaged, sample_average
from handful.oracles.cascades import CompetingCascades, IndependentCascade, LinearThreshold
from handful.oracles.information import InformationGain
from handful.oracles.portfolio import Portfolio
from handful.oracles.simulated import Chooses, Compares, Noisy, chooses, compares, noisy
from handful.oracles.simulators import SimulatedGain, SimulatedSet, noisy_function
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
