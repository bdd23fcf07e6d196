"""Explorers: what to ask next in a round, what an answer changes, whether the round is decided."""
