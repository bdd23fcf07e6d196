"""A PostgreSQL cluster of the test run's own: made in a fresh folder, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVERS = Path("/usr/lib/postgresql")


@contextmanager
def cluster() -> Iterator[str]:
    """Start a cluster, yield its SQLAlchemy URL, stop it and delete it."""
    # Not pytest's tmp_path: that is closed to the user `postgres`.
    folder = Path(tempfile.mkdtemp(prefix="handful-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, user="postgres", group="postgres")
        data = folder / "data"
        run("initdb", "--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-sync")
        # Durability is the database's promise, not ours: without fsync the tests are quicker and mean the same.
        # It listens on a socket in the folder: a port that is free now may be another's before it is taken.
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "start", "--wait", "--pgdata", data, "--log", folder / "log", "--options", options)
        try:
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "--wait", "--mode", "immediate", "--pgdata", data)
    finally:
        shutil.rmtree(folder)


def run(program: str, *arguments: str | Path) -> None:
    """Run one of PostgreSQL's programs; they refuse to work for root."""
    command = [str(program_path(program)), *map(str, arguments)]
    user = "postgres" if os.geteuid() == 0 else None
    # To a file and not a pipe: the server inherits it, and would keep a pipe open.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            command,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
        if done.returncode != 0:
            output.seek(0)
            raise RuntimeError(f"{program} ended with status {done.returncode}: {output.read()}")


def program_path(program: str) -> Path:
    """The newest installed version's program; Debian keeps them off the PATH."""
    versions = sorted(SERVERS.glob(f"*/bin/{program}"), key=lambda path: int(path.parts[-3]))
    if not versions:
        raise RuntimeError(f"no PostgreSQL server under {SERVERS}; scripts/need-chromium-and-postgres installs it")
    return versions[-1]
