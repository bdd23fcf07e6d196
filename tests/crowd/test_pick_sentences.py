"""What is said of picks, in every language of the page."""

from __future__ import annotations

import pytest

from handful.crowd.hosting.pick_sentences import sentences_in
from handful.crowd.languages import Language, language, languages
from handful.study.statements import Believed, PickStatement
from handful.study.verdict import Wins

PICKS = [
    PickStatement("a", "given"),
    PickStatement("a", "filled", wins_before=Wins(1, 1)),
    PickStatement("a", "filled"),
    PickStatement("a", "answers"),
    PickStatement("a", "answers", Wins(1_200, 2_500), runner_up="photo b", against=Wins(3, 7)),
    PickStatement("a", "answers", Wins(1, 1), runner_up="photo b", of_several=True),
    PickStatement("a", "answers", wins_before=Wins(2, 9), of_several=True),
    PickStatement("a", "answers", Wins(2, 3), believed=Believed(0.931, 3, 60, ("photo b", "photo c"))),
    PickStatement("a", "answers", Wins(2, 3), believed=Believed(0.999, 1, 60, ("photo b",))),
    PickStatement("a", "answers", Wins(2, 3), believed=Believed(0.5, 1_200, 2_000, ())),
    PickStatement("a", "answers", mean=0.12345, answers=17),
    PickStatement("a", "answers", mean=0.5, answers=1),
]


@pytest.mark.parametrize("pick", PICKS)
def test_english_says_what_the_study_itself_says(pick: PickStatement[str]) -> None:
    assert sentences_in(language("en"), pick, str.upper) == list(pick.sentences(str.upper))


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


@pytest.mark.parametrize(
    ("code", "n", "form"),
    [("en", 1, "one"), ("en", 0, "other"), ("de", 1, "one"), ("ja", 1, "other"),
     ("ar", 0, "zero"), ("ar", 1, "one"), ("ar", 2, "two"), ("ar", 7, "few"), ("ar", 103, "few"), ("ar", 11, "many"),
     ("ar", 100, "other"), ("ar", 102, "other")],
)  # fmt: skip
def test_plural_forms_are_those_of_the_language(code: str, n: int, form: str) -> None:
    word = {name: name for name in ("zero", "one", "two", "few", "many", "other")}
    assert Language(code, "", "ltr", False, False, {"word": word}).counted("word", n) == form
