"""The words of the worker's page in several languages: one catalogue for each, as JSON.

A catalogue says how the language is written, whether it is the original, from which the others are translated, and
whether a native speaker has read it. A word that depends on a number has one form for each of the language's plural
forms.
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
    original: bool
    native: bool
    words: dict[str, Word]

    def said(self, key: str) -> str:
        """A word that stands for itself."""
        word = self.words[key]
        assert isinstance(word, str)
        return word

    def consent(self, *, marked: bool) -> str:
        """What is agreed to where the organizer wrote nothing; `marked`: where a mark of people's network is kept."""
        return self.said("consent" if marked else "consent.unmarked")

    def counted(self, key: str, n: int = 0, **values: object) -> str:
        """A word with values in their places; where it has several forms, the one for so many (`n`)."""
        word = self.words[key]
        form = word if isinstance(word, str) else word.get(_form(self.code, n)) or word["other"]
        shown = {name: self.number(value) if isinstance(value, int) else value for name, value in values.items()}
        return form.format(n=self.number(n), **shown)

    def number(self, number: int) -> str:
        """A whole number as it is written in the language."""
        return f"{number:,}".replace(",", "." if self.code == "de" else ",")

    @property
    def data(self) -> str:
        """The words for the page's scripts, as JSON that may stand within HTML."""
        return json.dumps({"code": self.code, "words": self.words}, ensure_ascii=False).replace("<", "\\u003c")


def _form(code: str, n: int) -> str:
    """Which plural form a whole number takes, by the rules of Unicode's CLDR."""
    if code == "ar":
        if n <= 2:
            return ("zero", "one", "two")[n]
        rest = n % 100
        return "few" if 3 <= rest <= 10 else "many" if rest >= 11 else "other"
    return "one" if n == 1 and code != "ja" else "other"


@cache
def languages() -> dict[str, Language]:
    """All languages by their codes, English first."""
    found = {}
    for file in files(__name__).iterdir():
        if file.name.endswith(".json"):
            told = json.loads(file.read_text(encoding="utf-8"))
            code = file.name.removesuffix(".json")
            original, native = told["original"], told["read_by_a_native_speaker"]
            found[code] = Language(code, told["name"], told["direction"], original, native, told["words"])
    return dict(sorted(found.items(), key=lambda pair: (pair[0] != DEFAULT, pair[0])))


def language(code: str) -> Language:
    """The language with this code; English where there is no such catalogue."""
    return languages().get(code) or languages()[DEFAULT]


def built_in(key: str) -> set[str]:
    """A word in all languages; of consent, all that are built in."""
    keys = ("consent", "consent.unmarked") if key == "consent" else (key,)
    return {one.said(key) for one in languages().values() for key in keys}
