"""Templates, scripts and styles. Those that a browser keeps have addresses that change with what is in them."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path

from fastapi.templating import Jinja2Templates
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from handful.crowd.languages import DEFAULT, language
from handful.crowd.settings import BOUNDS

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

RETRYING = (
    'addEventListener("error",e=>{if(e.target instanceof HTMLScriptElement||e.target instanceof HTMLLinkElement)'
    "setTimeout(()=>location.reload(),1500+2500*Math.random())},true)"
)
"""The only script within a page: if another was refused, or never came, the page is loaded again."""
RETRYING_HASH = "sha256-" + b64encode(sha256(RETRYING.encode()).digest()).decode()


templates = Jinja2Templates(directory=Path(__file__).parent / "templates")
templates.env.globals["static"] = STATIC
templates.env.globals["bounds"] = BOUNDS
templates.env.filters["spelled"] = lambda number: f"{number:.6f}".rstrip("0").rstrip(".")
templates.env.globals["language"] = language(DEFAULT)
templates.env.globals["retrying"] = Markup(RETRYING)


class VersionedFiles:
    """Everything in the folder, under this edition's name and no other; kept in memory, since everybody needs it."""

    def __init__(self) -> None:
        self._files = {
            f"{STATIC}/{path.name}": (path.read_bytes(), guess_type(path.name)[0] or "application/octet-stream")
            for path in FOLDER.iterdir()
            if path.is_file()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._files.get(scope["path"])
        if found is None:
            raise HTTPException(404)
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        content, kind = found
        await Response(content, media_type=kind, headers={"Cache-Control": FOR_EVER})(scope, receive, send)


def page(name: str, **shown: object) -> str:
    """A page that needs nothing of a request."""
    return templates.get_template(name).render(shown)
