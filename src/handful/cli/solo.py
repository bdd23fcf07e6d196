"""`handful serve --solo`: one person chooses alone, on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.crowd_console import console
from handful.cli.serve_words import say_stopping

if TYPE_CHECKING:
    import socket

    from handful.crowd.hosting.hosted_study import HostedStudy
    from handful.crowd.hosting.registry import Registry

_LAST_LOOK_S = 600
"""How long the page stays up after the last pick, to be looked at."""
_SECONDS_PER_PAIR, _MORE_PER_OPTION = 2.2, 0.25
"""What one answer takes, for somebody who looks at both pictures; and how much longer with every further one."""


def choose_alone(registry: Registry, themes: Sequence[str], listening: socket.socket, source: Path, again: str) -> None:
    """One person chooses, on this machine; ends with a folder of the picks. What is chosen already is shown again."""
    from handful.crowd.hosting.finish_watcher import when_finished
    from handful.crowd.hosting.solo import solo_study
    from handful.crowd.hosting.visits import end_visits
    from handful.crowd.outputs import picks_folder, write_picks
    from handful.crowd.web.server import Server, port_of

    hosted, folder, put = solo_study(registry, themes), picks_folder(source), threading.Lock()

    def write() -> Path:
        return write_picks(hosted.collection, hosted.study.result(), hosted.theme, (source,), folder)

    link = f"http://127.0.0.1:{port_of(listening)}/s/{hosted.name}"
    if not hosted.open:
        kept = folder if folder.exists() else write()
        Server(registry, say_stopping).run_until_interrupted(
            listening, partial(_print_chosen, hosted, link, kept, again)
        )
        return
    end_visits(hosted.study)
    server, stop, kept_in = Server(registry, say_stopping), threading.Event(), list[Path]()

    def keep() -> None:
        with put:
            if not kept_in:
                kept_in.append(write())
                console.print(f"\nDone: your picks and their contact sheet are in [bold]{kept_in[0]}[/bold].")

    def finish() -> None:
        keep()
        console.print("The page stays for ten minutes, or until you press Ctrl-C.", style="dim")
        sys.stdout.flush()
        stop.wait(_LAST_LOOK_S)
        server.stop()

    watching = when_finished(hosted, finish, stop)
    server.run_until_interrupted(listening, partial(print_link, hosted, link))
    stop.set()
    watching.join()
    if hosted.state == "finished":
        keep()
    else:
        console.print(f"Stopped. Your answers are stored; to go on: [bold]{again}[/bold]", soft_wrap=True)


def _print_chosen(hosted: HostedStudy, link: str, kept: Path, again: str) -> None:
    console.print(
        f"All {hosted.k} are chosen already: your picks and their contact sheet are in [bold]{kept}[/bold].",
        soft_wrap=True,
    )
    console.print(f"  open       {link}", soft_wrap=True)
    console.print(f"To choose anew, name another file for your answers: {again} --storage again.db", soft_wrap=True)
    console.print("\nThe page stays until you press Ctrl-C.", style="dim")
    sys.stdout.flush()


def seconds_per_answer(options: int) -> float:
    """Four pictures take one and a half times as long as two."""
    return _SECONDS_PER_PAIR * (1 + _MORE_PER_OPTION * (options - 2))


def print_link(hosted: HostedStudy, link: str) -> None:
    """Say how much there is to do, and where."""
    progress = hosted.progress()
    assert progress.budget is not None
    left = progress.budget - progress.answers
    minutes = max(1, round(left * seconds_per_answer(hosted.study.setup.problem.feedback.options) / 60))
    most = "" if hosted.study.setup.sure is None else "at most "
    questions = f"{most}{left:,} questions{' left' if progress.answers else ''}"
    about = f"{questions}, about {minutes} minute{'s' if minutes > 1 else ''}"
    console.print(f"\n[bold]{progress.k} of {len(hosted.collection)}[/bold], {about}:", end=" ")
    console.print(hosted.theme, markup=False, style="bold")
    console.print(f"  open       {link}", soft_wrap=True)
    console.print("\nStop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()
