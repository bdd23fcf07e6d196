"""A figure of Matplotlib that a notebook shows, whether or not pyplot is in use there."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DPI = 144  # twice what it is shown at, for screens with fine pixels
SHOWN_AT = 72


class ShownFigure(Figure):
    """A figure that pyplot knows nothing of: a cell that ends with it shows it once, and nothing else does."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=DPI)
        wide, high = self.get_size_inches()
        return out.getvalue(), {"width": round(wide * SHOWN_AT), "height": round(high * SHOWN_AT)}
