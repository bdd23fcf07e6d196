"""Where a server is found: by which name, and in which browser."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser

from handful.cli.crowd_console import note
from handful.cli.serve_words import HERE


def show_page(link: str) -> None:
    """Open the organizer's page, where this machine has a browser and somebody who looks."""
    somebody = sys.stdout.isatty() and (sys.platform in ("darwin", "win32") or _has_display())
    if somebody and not webbrowser.open(link):
        note("no browser could be opened: open the link above yourself")


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def name_of(host: str) -> str:
    """The name to print: this machine's own address, when it listens to all."""
    if host in HERE:
        return "127.0.0.1" if host not in ("::1", "[::1]") else "[::1]"
    if host in ("0.0.0.0", "::"):
        return _own_address()
    return f"[{host}]" if ":" in host else host


def _own_address() -> str:
    """Where others on the network find this machine. Connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
