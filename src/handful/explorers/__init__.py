"""The explorers, a file each. `registry.py` lists them, `protocol.py` and `board.py` are what all of them share."""

NAMES = ("certified", "duels", "pivot", "sharp", "topx", "uniform", "worth")
"""Known without importing an explorer, which takes long."""
