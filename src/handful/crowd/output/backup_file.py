"""One file that holds everything: the database, as of one moment, and the collection beside it."""

from __future__ import annotations

import os
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

from handful.errors import StorageError
from handful.storage import backup

STEM = "handful"


def backup_file(storage: str | Path, items: Path, target: Path | None = None) -> Path:
    """A zip with handful.db and handful.db.items/, made while the studies go on; give its path.

    To restore, unpack it and serve `handful.db`. It holds the secret that workers' cookies are checked with, so keep
    it as safe as the database itself.
    """
    if target is not None and target.exists():
        raise StorageError(f"{target} is there already and is not overwritten: choose another name for the backup")
    with tempfile.TemporaryDirectory(prefix="handful-backup-") as folder:
        database = backup(storage, Path(folder) / f"{STEM}.db")
        if target is None:
            with tempfile.NamedTemporaryFile(prefix="handful-backup-", suffix=".zip", delete=False) as file:
                target = Path(file.name)
        else:
            # For its owner only, from the first byte on: it holds the secret.
            with suppress(OSError):
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, allowZip64=True) as out:
            out.write(database, f"{STEM}.db", compress_type=zipfile.ZIP_DEFLATED)
            for path in sorted(items.rglob("*")):
                if path.is_file():
                    out.write(path, f"{STEM}.db.items/{path.relative_to(items).as_posix()}")
    return target
