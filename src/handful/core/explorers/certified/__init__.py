"""`certified`: its settings, the audit of the whole, and the rules that prove every round."""

from handful.core.explorers.certified.settings import Certified

__all__ = ["Certified"]
