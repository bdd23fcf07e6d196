"""Image collections with tags and view counts, and what a good summary of them is (Appendix E)."""

from __future__ import annotations

from handful.lab.collections.collection import Image, ImageCollection
from handful.lab.collections.reading import load_csv
from handful.lab.collections.synthetic import TOPIC_WEIGHTS, venice
from handful.lab.collections.theming import themes

__all__ = ["TOPIC_WEIGHTS", "Image", "ImageCollection", "load_csv", "themes", "venice"]
