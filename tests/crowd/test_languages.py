"""Languages: every catalogue says everything, and nothing is said that no catalogue has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from handful.crowd.languages import DEFAULT, Language, Word, language, languages
from handful.crowd.settings import CONSENT, Settings
from handful.crowd.words import settings_with
from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]
ENGLISH = language(DEFAULT)
WEB = Path(__file__).parents[2] / "src/handful/crowd"
FORMS = {"en": {"one", "other"}, "de": {"one", "other"}, "ja": {"other"}}
ARABIC = {"zero", "one", "two", "few", "many", "other"}


def places(word: Word) -> set[str]:
    forms = [word] if isinstance(word, str) else list(word.values())
    return {name for form in forms for name in re.findall(r"\{(\w+)\}", form)}


@pytest.mark.parametrize("one", languages().values(), ids=lambda one: one.code)
def test_a_catalogue_has_every_word_with_the_same_values_in_it(one: Language) -> None:
    assert one.words.keys() == ENGLISH.words.keys()
    assert one.direction == ("rtl" if one.code == "ar" else "ltr")
    for key, word in one.words.items():
        assert isinstance(word, str) == isinstance(ENGLISH.words[key], str), key
        assert places(word) == places(ENGLISH.words[key]), key
        if not isinstance(word, str):
            assert word.keys() == FORMS.get(one.code, ARABIC), key


def test_english_is_the_original_and_no_catalogue_claims_a_reader_it_did_not_have() -> None:
    assert list(languages()) == ["en", "ar", "de", "ja"]
    assert [one.code for one in languages().values() if one.original] == ["en"]
    assert [one.code for one in languages().values() if one.native] == []


def test_every_word_is_used_and_every_word_that_is_used_is_there() -> None:
    sources = [*(WEB / "static").glob("*.js"), *(WEB / "templates").glob("*.html")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    named = set(re.findall(r"\bt\(\s*\"([\w.]+)\"", text)) | set(re.findall(r"said\(\"([\w.]+)\"\)", text))
    named |= set(re.findall(r"[?:]\s*\(?\"([a-z]+\.[\w.]+)\"", text)) | {"agree", "begin", "lost", "unstored"}
    assert named <= ENGLISH.words.keys() | {"refused.", "ending."}, named - ENGLISH.words.keys()
    prefixes = ("pick.", "number.", "refused.", "ending.", "time.")
    unused = {key for key in ENGLISH.words if key not in named and not key.startswith(prefixes)}
    assert unused <= {"consent", "consent.unmarked", "consent.panel", "instructions", "instruction", "picture.named"}


def test_no_word_that_people_read_stands_in_a_style_sheet() -> None:
    for name in ("app", "worker", "picks"):
        sheet = (WEB / "static" / f"{name}.css").read_text(encoding="utf-8")
        assert re.findall(r'content: "[^"]*[A-Za-z][^"]*"', sheet) == []


@pytest.mark.parametrize("one", languages().values(), ids=lambda one: one.code)
def test_consent_names_a_mark_of_the_network_only_where_it_is_kept(one: Language) -> None:
    settings = settings_with(Settings(), {"language": one.code})
    marked, unmarked = (settings.agreed_to(marked=kept) or "" for kept in (True, False))
    network = {"en": "network", "de": "Netzes", "ja": "ネットワーク", "ar": "للشبكة"}[one.code]
    assert network in marked
    assert network not in unmarked
    own = replace(settings, consent="I was asked.")
    assert own.agreed_to(marked=True) == own.agreed_to(marked=False) == "I was asked."


def test_built_in_words_follow_the_language_and_the_organizers_own_do_not() -> None:
    german = settings_with(Settings(), {"language": "de"})
    assert german.consent == language("de").said("consent")
    assert german.instruction == language("de").said("instruction")
    assert settings_with(german, {"language": "en"}).consent == CONSENT
    own = settings_with(Settings(), {"language": "ja", "consent": "I was asked."})
    assert own.consent == "I was asked."
    assert own.instructions == language("ja").said("instructions")
    assert settings_with(Settings(), {"language": "tlh"}).language == DEFAULT


def test_consent_changes_its_language_only_where_the_organizer_has_accepted_the_text(serve: Serve) -> None:
    server = serve()
    organizer, here = server.organizer(), f"/api/organize/{STUDY}/words"

    def shown() -> str | None:
        consent: str | None = server.browser().get(f"/api/s/{STUDY}").json()["consent"]
        return consent

    english, german = (language(code).consent(marked=False) for code in ("en", "de"))
    assert shown() == english
    for said in ({"language": "de"}, {"language": "de", "consent": english}):
        refused = organizer.post(here, json=said)
        assert (refused.status_code, refused.json()["error"]) == (409, "not_accepted")
        assert "in Deutsch that you have not accepted: send the consent in that language" in refused.json()["message"]
    assert shown() == english
    assert organizer.get(here, params={"language": "de"}).json()["consent"] == german
    assert organizer.get(here).json()["consent"] == english
    assert organizer.get(here, params={"language": "tlh"}).status_code == 422
    assert organizer.post(here, json={"language": "de", "consent": german}).status_code == 200
    assert shown() == german
    assert organizer.post(here, json={"thanks": "Danke"}).status_code == 200
    assert organizer.post(here, json={"consent": "I was asked."}).status_code == 200
    assert organizer.post(here, json={"language": "ja"}).status_code == 200, "one's own text stays"
    assert shown() == "I was asked."
    assert organizer.post(here, json={"consent": english}).status_code == 409, "it would be shown in Japanese"
    assert organizer.post(here, json={"consent": ""}).status_code == 200
    assert organizer.post(here, json={"language": "en"}).status_code == 200
    assert shown() is None
