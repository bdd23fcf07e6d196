from __future__ import annotations

import numpy as np
import pytest
from PIL import Image as Picture

from handful.errors import InvalidCollection
from reproduction.crowd import postcard_sheet


def test_a_contact_sheet_shows_all_pictures_in_reading_order() -> None:
    inks = ((200, 0, 0), (0, 200, 0), (0, 0, 200), (200, 200, 0))
    sheet = postcard_sheet([Picture.new("RGB", (40, 30), ink) for ink in inks], list("abcd"), 3, "Four", width=600)
    found = {ink: np.argwhere((np.asarray(sheet) == ink).all(axis=2)).mean(axis=0) for ink in inks}
    centres = [found[ink] for ink in inks]
    assert centres[0][1] < centres[1][1] < centres[2][1]
    assert centres[3][0] > centres[0][0] + 100
    assert centres[3][1] == pytest.approx(centres[0][1], abs=3)
    assert sheet.width == 600


def test_a_sheet_of_nothing_or_with_captions_missing_is_refused() -> None:
    picture = Picture.new("RGB", (40, 30))
    with pytest.raises(InvalidCollection, match="at least one"):
        postcard_sheet([])
    with pytest.raises(InvalidCollection, match="1 captions for 2 pictures"):
        postcard_sheet([picture, picture], ["one"])


def test_long_captions_are_cut_at_the_edge_of_their_cell() -> None:
    picture = Picture.new("RGB", (40, 30))
    sheet = postcard_sheet([picture, picture], ["a very long caption indeed " * 5, ""], 2, width=400)
    gutter = np.asarray(sheet)[:, 200:203]
    assert (gutter[-20:] == gutter[0, 0]).all()
