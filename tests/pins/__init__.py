"""Pins: what studies ask, pick, charge and certify, as it was recorded on purpose, through the public names alone."""
