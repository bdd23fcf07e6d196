"""A password that was typed on the command line is taken out of the list of processes, which everybody can read."""

from __future__ import annotations

import os
import sys
from urllib.parse import unquote

from handful.errors import InvalidProblem

ADVICE = "give the URL in the environment variable HANDFUL_DATABASE, or the password in PGPASSWORD or ~/.pgpass"


def hide_typed_password() -> None:
    """If a URL among the arguments has a password: start again without it, and with it in the environment."""
    from handful.storage import passwords_in, without_password

    typed = " ".join(sys.argv[1:])
    if "://" not in typed:
        return
    found = passwords_in(typed)
    if not found:
        return
    if len(found) > 1:
        raise InvalidProblem(f"two URLs with passwords of their own on one command line: {ADVICE}")
    if sys.orig_argv[-len(sys.argv) + 1 :] != sys.argv[1:]:
        return  # not started as a command, so there are no arguments to hide
    print(f"handful: note: everybody on this machine could read the password that was typed; {ADVICE}", file=sys.stderr)
    sys.stderr.flush()
    arguments = [without_password(argument) for argument in sys.orig_argv]
    os.execve(sys.executable, arguments, {**os.environ, "PGPASSWORD": unquote(found.pop())})
