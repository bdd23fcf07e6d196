"""The explorers, a file each: `registry.py` lists them, `protocol.py` is what they share, the rest are parts of several."""

NAMES = ("certified", "duels", "pivot", "sharp", "topx", "uniform", "worth")
"""Known without importing an explorer, which takes long."""
