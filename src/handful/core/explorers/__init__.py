"""The explorers, each in a file or folder of its own. `registered.py` lists them, `protocol.py` is what they share."""
