"""Pictures of strangers are decoded in a process that has little to spend, and nowhere else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import handful
from handful.crowd import decoding
from handful.crowd.collection import Collection
from handful.crowd.decoding import Decoder
from handful.crowd.intake import check_cards
from handful.crowd.outputs import contact_sheet
from handful.errors import InvalidCollection
from tests.crowd.pictures import drawn, encoded


def test_the_limits_leave_little_memory_and_no_byte_to_be_written_to_a_file() -> None:
    script = """
import signal, tempfile
from handful.crowd import decoding
file = tempfile.TemporaryFile()
decoding._limit()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    bytearray(3_000_000_000)
except MemoryError:
    print("little memory")
try:
    file.write(b"x" * 100_000)
except OSError:
    print("no files")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["little memory", "no files"], done.stderr


def test_the_child_has_these_limits_and_decodes_every_format() -> None:
    decoder = Decoder()
    try:
        sizes = [decoder.decode(encoded(drawn(1), kind)).width for kind in ("JPEG", "PNG", "WEBP", "GIF")]
        assert decoder._child is not None
        limits = Path(f"/proc/{decoder._child.pid}/limits").read_text()
    finally:
        decoder.close()
    assert sizes == [320] * 4
    kept = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()}
    assert kept["Max address space"] == str(decoding.MEMORY_BYTES)
    assert (kept["Max file size"], kept["Max core file size"]) == ("0", "0")
    assert kept["Max cpu time"] == str(decoding.CPU_SECONDS)


def test_a_picture_is_given_as_pixels_of_the_size_that_is_asked_for() -> None:
    decoder = Decoder()
    try:
        data = encoded(Image.new("RGB", (300, 200), "red"), "PNG")
        within = decoder.pixels(data, (30, 30), "contain")
        assert (within.size, within.getpixel((5, 5))) == ((30, 20), (255, 0, 0))
        assert decoder.pixels(data, (40, 40), "cover").size == (40, 40)
        assert decoder.pixels(data, (16, 3), "exact").size == (16, 3)
        with pytest.raises(InvalidCollection, match="is not a JPEG"):
            decoder.pixels(b"nonsense", (4, 4), "exact")
    finally:
        decoder.close()


def test_sheets_and_check_cards_are_drawn_without_decoding_here(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contact_sheet(collection, collection.ids[:2], "Two")

    def here(*_: object, **__: object) -> None:
        raise AssertionError("a picture is decoded in the server's own process")

    monkeypatch.setattr(Image, "open", here)
    assert contact_sheet(collection, collection.ids[:2], "Two") == before
    assert len(check_cards(collection, "Choose this one.").spoiled) == len(collection)


def test_pictures_are_opened_by_the_child_alone_which_names_their_formats() -> None:
    opened = {}
    for path in (Path(handful.__file__).parent / "crowd").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Image.open":
                opened[path.name] = [keyword.arg for keyword in node.keywords]
    assert opened == {"decoding.py": ["formats"]}
