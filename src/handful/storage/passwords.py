"""Passwords in the URLs of databases: they are for the driver, and for nobody who reads a message."""

from __future__ import annotations

import re

_IN_URL = re.compile(r"(\w+(?:\+\w+)?://[^:/?#\s'\"]*):([^/?#\s'\"]*)@")
# With letters that a URL should not have, such as a slash, and that SQLAlchemy takes nevertheless: up to the next "@".
_UNQUOTED = re.compile(r"(postgres\w*(?:\+\w+)?://[^:/@\s]*):([^@\s]*)@")
_IN_QUERY = re.compile(r"([?&](?:ssl)?password=)([^&\s'\"]+)")


def without_password(text: str) -> str:
    """The text with every password of a URL left out, so that the URL can still be used with one from elsewhere."""
    return _IN_QUERY.sub(r"\1", _UNQUOTED.sub(r"\1@", _IN_URL.sub(r"\1@", text)))


def passwords_in(text: str) -> set[str]:
    """The passwords of all URLs in a text, as they are written there."""
    unquoted = _UNQUOTED.findall(_IN_URL.sub(r"\1@", text))
    return {password for _, password in (*_IN_URL.findall(text), *unquoted, *_IN_QUERY.findall(text)) if password}
