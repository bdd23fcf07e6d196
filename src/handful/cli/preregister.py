"""`handful preregister`: write down what a study will do, before it begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import app, say
from handful.cli.parameters import STORAGE, Name, Storage
from handful.cli.studies import only_study
from handful.errors import InvalidProblem

if TYPE_CHECKING:
    from handful.study import Study
    from handful.study.preregistration import Contents


@app.command(
    epilog="""
[bold]Example[/bold]  handful preregister cathedrals -s photos.db

Post both files where others can see them. Afterwards anybody who has the journal can check that the study kept to it:

 handful replay cathedrals -s photos.db --check --against cathedrals-preregistration.json
"""
)
def preregister(
    study: Name = None,
    storage: Storage = STORAGE,
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")] = Path(),
) -> None:
    """Write down what a study will do, as a page and as JSON to be posted before its first answer.

    It names each item's digest, k, the explorer, the budget, who counts, the wording and when it ends, and commits to
    the seed without telling it. The certificate and the export then name its digest. While a server runs the study, use
    the button on the organizer's page instead.
    """
    from handful.study import Study
    from handful.study.preregistration import to_json
    from handful.study.preregistration_page import page_of

    name = study or only_study(storage)
    with Study.open(storage, name) as opened:
        record = opened.preregister(*shown_to_people(storage, opened))
        late = opened.fold.registered.answers if opened.fold.registered is not None else 0
    html, json_ = (folder / f"{name}-preregistration.{ending}" for ending in ("html", "json"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        html.write_text(page_of(record, late, _built_in(record)), encoding="utf-8")
        json_.write_text(to_json(record), encoding="utf-8")
    except OSError as error:
        raise InvalidProblem(f"cannot write {html}: {error.strerror}") from error
    say(f"wrote {html} and {json_}; the digest is {record['hash']}")
    if late:
        say(f"this study had {late:,} answers already when it was registered, and its certificate says so")


def _built_in(record: dict[str, Any]) -> dict[str, str]:
    """What people read where the organizer wrote nothing."""
    if not record.get("words"):
        return {}
    from handful.crowd.hosting.preregistering import built_in_words

    return built_in_words(record)


def shown_to_people(
    storage: str, study: Study[Any], as_in: int | None = None
) -> tuple[Contents | None, dict[str, Any]]:
    """The digests of what people see, and what they read, where the crowd app serves the study.

    `as_in`: as records of this format told it; without it, as they do now.
    """
    from handful.study.preregistration import FORMAT

    try:
        from handful.crowd.hosting.preregistering import shown_in
    except ImportError:  # without the extra there is no crowd app
        return None, {}
    return shown_in(storage, study, FORMAT if as_in is None else as_in)
