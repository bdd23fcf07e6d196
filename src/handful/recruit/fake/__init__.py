"""A fake Prolific over HTTP, with the oddities of the real one: for tests, and for trying a paid study out for nothing.

It is written from what others have observed of the real service; it is no proof of how the real one behaves.
"""

from __future__ import annotations

from handful.recruit.fake.platform import FakePlatform, Workspace
from handful.recruit.fake.server import FakeProlific

__all__ = ["FakePlatform", "FakeProlific", "Workspace"]
