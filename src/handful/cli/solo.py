"""`handful serve --solo`: one person chooses alone, on this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.crowd_console import console

if TYPE_CHECKING:
    import socket

    from handful.crowd.hosting.hosted_study import HostedStudy
    from handful.crowd.hosting.registry import Registry

_LAST_LOOK_S = 600
"""How long the page stays up after the last pick, to be looked at."""
_SECONDS_PER_ANSWER = 2.2
"""What one answer takes, for somebody who looks at both pictures."""


def choose_alone(registry: Registry, themes: Sequence[str], listening: socket.socket, source: Path, again: str) -> None:
    """One person chooses, on this machine; ends with a folder of the picks."""
    from handful.crowd.hosting.finish_watcher import when_finished
    from handful.crowd.hosting.solo import end_earlier_visits, solo_study
    from handful.crowd.output.picks_folder import picks_folder, write_picks
    from handful.crowd.web.server import Server, port_of

    hosted, folder, put = solo_study(registry, themes), picks_folder(source), threading.Lock()

    def write() -> Path:
        return write_picks(hosted.collection, hosted.study.result(), hosted.theme, (source,), folder)

    if not hosted.open:
        registry.close()
        kept = folder if folder.exists() else write()
        console.print(
            f"All {hosted.k} are chosen already: your picks and their contact sheet are in [bold]{kept}[/bold]."
        )
        console.print(f"To choose anew, name another file for your answers: {again} --storage again.db", soft_wrap=True)
        return
    end_earlier_visits(hosted)
    server, stop, kept_in = Server(registry), threading.Event(), list[Path]()

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

    link = f"http://127.0.0.1:{port_of(listening)}/s/{hosted.name}"
    watching = when_finished(hosted, finish, stop)
    server.run_until_interrupted(listening, partial(_print_link, hosted, link))
    stop.set()
    watching.join()
    if hosted.state == "finished":
        keep()
    else:
        console.print(f"Stopped. Your answers are stored; to go on: [bold]{again}[/bold]", soft_wrap=True)


def _print_link(hosted: HostedStudy, link: str) -> None:
    progress = hosted.progress()
    assert progress.budget is not None
    left = progress.budget - progress.answers
    minutes = max(1, round(left * _SECONDS_PER_ANSWER / 60))
    about = (
        f"{left:,} questions{' left' if progress.answers else ''}, about {minutes} minute{'s' if minutes > 1 else ''}"
    )
    console.print(f"\n[bold]{progress.k} of {len(hosted.collection)}[/bold], {about}:", end=" ")
    console.print(hosted.theme, markup=False, style="bold")
    console.print(f"  open       {link}", soft_wrap=True)
    console.print("\nStop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()
