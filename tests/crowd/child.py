"""A server in a process of its own, to be killed: python -m tests.crowd.child ITEMS STORAGE PORT BUDGET [LIMITS]."""

from __future__ import annotations

import sys
from pathlib import Path

from handful.cli.crowd import once_free
from handful.crowd.app import Server, listen, log_to
from handful.crowd.collection import load_collection
from handful.crowd.registry import StudyPlan, open_registry
from handful.crowd.settings import ServerLimits, Settings

THEME = "Cathedrals in Venice"


def main(items: str, storage: str, port: str, budget: str, limits: str = "none") -> None:
    log_to(None)
    plan = StudyPlan(k=3, explorer="topx", budget=int(budget), in_flight=200, lease_s=3)
    settings = Settings(undo_s=0.2, redo_s=0.0, limits=ServerLimits() if limits == "real" else ServerLimits.none())
    collection = load_collection(Path(items))
    # As with `handful serve --wait`: one that is started while another serves takes over when that is gone.
    registry = once_free(lambda: open_registry(storage, collection, [THEME], plan, settings), True, str)
    Server(registry).run_until_interrupted(once_free(lambda: listen("127.0.0.1", int(port)), True, str))


if __name__ == "__main__":
    main(*sys.argv[1:])
