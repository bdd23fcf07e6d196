"""What is said of picks, in every language of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handful.certificates import Certificate
from handful.crowd.languages import Language, language, languages
from handful.crowd.picks import sentences_in, verdict_in
from handful.results import Believed, PickStatement, Result, Wins

PICKS = [
    PickStatement("a", "given"),
    PickStatement("a", "filled", wins_before=Wins(1, 1)),
    PickStatement("a", "filled"),
    PickStatement("a", "cut short", Wins(1, 2)),
    PickStatement("a", "answers"),
    PickStatement("a", "answers", Wins(1_200, 2_500), runner_up="photo b", against=Wins(3, 7)),
    PickStatement("a", "answers", Wins(1, 1), runner_up="photo b", of_several=True),
    PickStatement("a", "answers", wins_before=Wins(2, 9), of_several=True),
    PickStatement("a", "answers", Wins(2, 3), believed=Believed(0.931, 3, 60, ("photo b", "photo c"))),
    PickStatement("a", "answers", Wins(2, 3), believed=Believed(0.999, 1, 60, ("photo b",))),
    PickStatement("a", "answers", Wins(2, 3), believed=Believed(0.5, 1_200, 3_000, ())),
    PickStatement("a", "answers", Wins(1, 1), of_several=True, believed=Believed(0.9, 66, 78, ("photo b",))),
]


@pytest.mark.parametrize("pick", PICKS)
def test_english_says_what_the_study_itself_says(pick: PickStatement[str]) -> None:
    assert sentences_in(language("en"), pick, str.upper) == list(pick.sentences(str.upper))


def test_from_right_to_left_a_name_keeps_its_own_direction() -> None:
    pick = PickStatement("a", "answers", Wins(2, 3), runner_up="Canal (2).jpg", of_several=True)
    assert any("\u2068Canal (2).jpg\u2069" in said for said in sentences_in(language("ar"), pick, str))
    assert not any("\u2068" in said for said in sentences_in(language("ja"), pick, str))


@pytest.mark.parametrize("one", [one for one in languages().values() if one.code != "en"], ids=lambda one: one.code)
@pytest.mark.parametrize("pick", PICKS)
def test_other_languages_say_as_much_in_their_own_words(one: Language, pick: PickStatement[str]) -> None:
    said, original = sentences_in(one, pick, str.upper), pick.sentences(str.upper)
    assert len(said) == len(original)
    for sentence, english in zip(said, original, strict=True):
        assert sentence != english
        assert "{" not in sentence
        for name in ("PHOTO B", "PHOTO C"):
            assert (name in sentence) == (name in english)


def test_how_the_picks_did_is_said_in_the_language_of_the_page() -> None:
    result = Result((), 0, (), Certificate(), verdict="The picks were named.", picks=(PICKS[5], PICKS[6]))
    assert verdict_in(language("en"), result) == "The picks were named."
    for code in ("de", "ja", "ar"):
        said = verdict_in(language(code), result)
        assert "picks" not in said
        assert all(number in said for number in (language(code).number(1_201), language(code).number(2_501), "48%"))


def test_where_places_were_filled_in_it_is_said_of_which_picks_it_speaks() -> None:
    decided = Result((), 0, (), Certificate(), picks=(PICKS[5],))
    filled = replace(decided, picks=(PICKS[5], PICKS[2]))
    for code in ("de", "ja", "ar"):
        assert verdict_in(language(code), filled) != verdict_in(language(code), decided)


@pytest.mark.parametrize(
    ("code", "n", "form"),
    [("en", 1, "one"), ("en", 0, "other"), ("de", 1, "one"), ("ja", 1, "other"),
     ("ar", 0, "zero"), ("ar", 1, "one"), ("ar", 2, "two"), ("ar", 7, "few"), ("ar", 103, "few"), ("ar", 11, "many"),
     ("ar", 100, "other"), ("ar", 102, "other")],
)  # fmt: skip
def test_plural_forms_are_those_of_the_language(code: str, n: int, form: str) -> None:
    word = {name: name for name in ("zero", "one", "two", "few", "many", "other")}
    assert Language(code, "", "ltr", False, False, {"word": word}).counted("word", n) == form
