"""Scripts and styles, at addresses that change with what is in them: a browser keeps them, and never has old ones."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"
FOR_EVER = "private, max-age=31536000, immutable"


def _edition(folder: Path) -> str:
    """One name for all files as they are: they load each other, and must not be mixed with those of another release."""
    seen = sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        content = path.read_bytes()
        seen.update(f"{path.name} {len(content)} ".encode() + content)
    return seen.hexdigest()[:12]


STATIC = f"/static/{_edition(FOLDER)}"
"""Where they are now. Whatever they load is beside them."""


class VersionedFiles(StaticFiles):
    """Everything in the folder, under this edition's name and no other."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        edition, _, name = path.partition("/")
        if f"/static/{edition}" != STATIC:
            raise HTTPException(404)
        response = await super().get_response(name, scope)
        response.headers["Cache-Control"] = FOR_EVER
        return response
