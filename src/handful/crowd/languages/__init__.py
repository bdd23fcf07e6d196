"""The words of the worker's page in several languages: one catalogue for each, as JSON.

A catalogue says how the language is written and whether a native speaker has read it. A word that depends on a number
has one form for each of the language's plural forms.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

DEFAULT = "en"
Word = str | dict[str, str]


@dataclass(frozen=True)
class Language:
    """One catalogue."""

    code: str
    name: str
    direction: str
    native: bool
    words: dict[str, Word]

    def said(self, key: str) -> str:
        """A word that stands for itself."""
        word = self.words[key]
        assert isinstance(word, str)
        return word

    @property
    def data(self) -> str:
        """The words for the page's scripts, as JSON that may stand within HTML."""
        return json.dumps({"code": self.code, "words": self.words}, ensure_ascii=False).replace("<", "\\u003c")


@cache
def languages() -> dict[str, Language]:
    """All languages by their codes, English first."""
    found = {}
    for file in files(__name__).iterdir():
        if file.name.endswith(".json"):
            told = json.loads(file.read_text(encoding="utf-8"))
            code = file.name.removesuffix(".json")
            native = told["read_by_a_native_speaker"]
            found[code] = Language(code, told["name"], told["direction"], native, told["words"])
    return dict(sorted(found.items(), key=lambda pair: (pair[0] != DEFAULT, pair[0])))


def language(code: str) -> Language:
    """The language with this code; English where there is no such catalogue."""
    return languages().get(code) or languages()[DEFAULT]
