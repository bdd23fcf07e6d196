"""What an organizer may set about the app and a study: each default stated once, and between which numbers it lies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from handful.crowd.languages import DEFAULT, Language, built_in, language
from handful.crowd.lessons import Lesson


class SettingBounds(NamedTuple):
    """The least and the most that something may be; both may be had."""

    least: float
    most: float


BOUNDS = {
    "k": SettingBounds(1, 1_000),
    "options": SettingBounds(2, 9),
    "people": SettingBounds(1, 100_000),
    "goal": SettingBounds(0, 100_000),
    "budget": SettingBounds(1, 100_000_000),
    "per_hour": SettingBounds(1, 100_000),
    "epsilon": SettingBounds(0.000_001, 1),
    "delta": SettingBounds(0.000_001, 0.999_999),
    "sure": SettingBounds(0.5, 0.999),
    "in_flight": SettingBounds(1, 100_000),
    "lease": SettingBounds(1, 86_400),
    "seed": SettingBounds(0, 2**53),
    "retention_days": SettingBounds(0, 3_650),
}
"""By the names of the settings; `per_hour` is in cents, `lease` in seconds."""


CONSENT = language(DEFAULT).said("consent")
INSTRUCTIONS = language(DEFAULT).said("instructions")
INSTRUCTION = language(DEFAULT).said("instruction")


@dataclass(frozen=True)
class Rate:
    """So many per second on average, and so many at once after a rest."""

    per_second: float
    burst: float


@dataclass(frozen=True)
class ServerLimits:
    """How much one worker and one address may ask of the server. A whole class may sit behind one address.

    files: pages, scripts, styles and pictures, which everybody loads at once when a link is shared.
    held_per_network: which share of the questions that may be out can be held from one network, on an open link.
    connections: how many there may be in all; whoever comes beyond that is refused with 503.
    """

    worker: Rate = Rate(5, 30)
    address: Rate = Rate(200, 1000)
    joining: Rate = Rate(5, 300)
    login: Rate = Rate(0.2, 8)
    files: Rate = Rate(2_000, 20_000)
    body_bytes: int = 16_384
    settings_bytes: int = 262_144
    texts_bytes: int = 16_000_000
    upload_bytes: int = 8_000_000_000
    picture_bytes: int = 64_000_000
    streams: int = 2_000
    streams_per_address: int = 600
    organizer_streams: int = 100
    connections: int = 10_000
    held_per_network: float = 0.75

    @classmethod
    def none(cls) -> ServerLimits:
        """For a load test from one address."""
        most, many = Rate(1e9, 1e9), 1_000_000
        return cls(
            most,
            most,
            most,
            most,
            most,
            streams=many,
            streams_per_address=many,
            connections=many,
            held_per_network=1.0,
        )


@dataclass(frozen=True)
class Settings:
    """What holds for a server, and for a study whose journal has no words of its own.

    question, welcome, thanks: what is asked, and what people read before they begin and when nothing is left; None for
        the built-in words.
    listed: whether the server's front page names the study; whoever has its link gets there in any case.
    show_result: whether people who took part see what was chosen, once the study has ended.
    instruction: what a check's card says that is to be chosen.
    practice: the organizer's own lessons before the first question, or none of them; None for the page's own.
    retention_days: how long after the study is closed it is kept who gave which answers; None: as was said when it
        began, else 90.
    language: of the worker's page, and of the built-in words wherever the organizer wrote none.
    goal: how many answers a worker is asked for; they may go on after that. None: no number is shown.
    undo_s: how long the page offers to undo an answer; whoever does has `redo_s` more to choose again.
    hosts: the names under which the server may be addressed; None for any.
    proxies: the networks whose X-Forwarded-For is believed; nobody else's is.
    """

    goal: int | None = 30
    consent: str | None = CONSENT
    instructions: str = INSTRUCTIONS
    question: str | None = None
    welcome: str | None = None
    thanks: str | None = None
    practice: tuple[Lesson, ...] | None = None
    instruction: str = INSTRUCTION
    language: str = DEFAULT
    listed: bool = True
    show_result: bool = False
    retention_days: int | None = None
    undo_s: float = 5.0
    redo_s: float = 5.0
    solo: bool = False
    hosts: tuple[str, ...] | None = None
    secure_cookies: bool = False
    proxies: tuple[str, ...] = ()
    limits: ServerLimits = field(default_factory=ServerLimits)

    @property
    def catalogue(self) -> Language:
        """The words of the worker's page."""
        return language(self.language)

    def in_its_language(self) -> Settings:
        """The same settings, with the built-in words in the study's language."""
        consent = self.consent if self.consent is None else self._spoken("consent", self.consent)
        instructions = self._spoken("instructions", self.instructions)
        return replace(
            self, consent=consent, instructions=instructions, instruction=self._spoken("instruction", self.instruction)
        )

    def _spoken(self, key: str, word: str) -> str:
        return self.catalogue.said(key) if word in built_in(key) else word

    def agreed_to(self, *, marked: bool) -> str | None:
        """What people agree to; the built-in text names a mark of their network only where it is kept (`marked`)."""
        return self.catalogue.consent(marked=marked) if self.consent in built_in("consent") else self.consent
