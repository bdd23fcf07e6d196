"""Write the pins anew, on purpose: `python -m tests.pins.write [name ...]`; without names, all of them.

Do so only where a change is meant to change what studies ask, pick, charge or certify, and say that in the commit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.pins.figures import QUICK, SLOW, pin_of_figure
from tests.pins.settings import SETTINGS, pin_of_study

FILE = Path(__file__).parent / "pins.json"
PINS: dict[str, Callable[[], dict[str, Any]]] = {name: partial(pin_of_study, name) for name in SETTINGS} | {
    f"figure {figure}": partial(pin_of_figure, figure) for figure in (*QUICK, *SLOW)
}


def pinned() -> dict[str, Any]:
    """The pins as they are kept, by their names."""
    found: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def main(wanted: list[str]) -> None:
    if unknown := [name for name in wanted if name not in PINS]:
        raise SystemExit(f"there are no pins named {', '.join(map(repr, unknown))}: see tests/pins/settings.py")
    before = pinned()
    pins = {name: make() if name in (wanted or PINS) else before[name] for name, make in PINS.items()}
    lines = [f" {json.dumps(name, ensure_ascii=False)}: {_written(pin)}" for name, pin in pins.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    for name in PINS:
        if pins[name] != before.get(name):
            print(f"{name}: {'new' if name not in before else 'changed'}")


def _written(pin: dict[str, Any]) -> str:
    """A line for each entry, so that a change is seen where it is."""
    parts = [
        f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in pin.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n }"


if __name__ == "__main__":
    main(sys.argv[1:])
