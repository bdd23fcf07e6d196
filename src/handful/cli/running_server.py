"""Giving an order to a server that has a study open: over HTTP, with a key made for this one order."""

from __future__ import annotations

import json
import time
from http.cookies import SimpleCookie
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from handful.cli.existing_storage import check_there
from handful.errors import InvalidProblem, StorageError

PATIENCE_S = 60.0


def ask_server(at: str, storage: str, study: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """What the organizer's interface says to a request about a study; with a body it is an order.

    Whoever can write to the storage may do that: a key is made there, used, and revoked.
    """
    from handful.crowd.hosting.registry import link_of
    from handful.storage.keys import new_key, open_keys

    check_there(storage, study)
    keys = open_keys(storage)
    key, typed = new_key(keys, "own", study)
    try:
        _, cookie = _send(f"{at.rstrip('/')}/api/organize/login", {"key": typed}, "")
        return _send(f"{at.rstrip('/')}/api/organize/{link_of(study)}{path}", body, cookie)[0]
    finally:
        keys.revoke(key.id, time.time())


def _send(url: str, body: dict[str, Any] | None, cookie: str) -> tuple[Any, str]:
    """The JSON of the reply, and the session's cookie if it set one."""
    if not url.startswith(("http://", "https://")):
        raise InvalidProblem(
            f"--at {url.split('/api/')[0]}: expected the address of the server, like http://127.0.0.1:8000"
        )
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json", "Cookie": cookie})
    try:
        with urlopen(request, timeout=PATIENCE_S) as reply:
            set_ = SimpleCookie(reply.headers.get("Set-Cookie", ""))
            said = reply.read()
    except HTTPError as error:
        raise InvalidProblem(f"the server refused: {_reason(error)}") from error
    except (URLError, TimeoutError, OSError) as error:
        raise StorageError(f"no server answers at {url.split('/api/')[0]} ({error}): check --at") from error
    return json.loads(said) if said else None, "; ".join(f"{name}={part.value}" for name, part in set_.items())


def _reason(error: HTTPError) -> str:
    """What a refusal says to people."""
    with error:
        try:
            return str(json.loads(error.read())["message"])
        except (ValueError, KeyError, TypeError):
            return f"{error.code} {error.reason}"
