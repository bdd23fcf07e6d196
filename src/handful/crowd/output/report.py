"""The report: one HTML page that stands alone, with the selection, how it came about and what may be claimed."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from handful.crowd.collection.items import Collection
from handful.study.results import Result, RoundResult
from handful.study.statements import PickStatement
from handful.wording import counted

ENDED = {
    "rule": "decided by its answers",
    "budget": "its share of the answers was used",
    "alone": "nothing else was left",
    "closed": "decided with what was known when the study was closed",
    "filled": "filled in from what was known when the study was closed",
}


def report(collection: Collection, result: Result[str], theme: str, people: int, now: float) -> str:
    """The page, with the pictures in it."""
    by_pick = {round_.pick: round_ for round_ in result.rounds}
    picks = "\n".join(
        _pick(place, collection, pick, by_pick.get(pick.item)) for place, pick in enumerate(result.picks, start=1)
    )
    when = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
    number = "one person" if people == 1 else f"{people:,} people"
    claims = "".join(f"<li>{escape(one)}</li>" for one in result.certificate.assumptions)
    return _PAGE.format(
        theme=escape(theme),
        lead=f"{len(result.chosen)} of {len(collection):,}; {result.answers_said}; {number} took part. {when}.",
        picks=picks or "<p>Nothing is chosen yet.</p>",
        verdict=escape(result.verdict),
        certificate=escape(str(result.certificate)),
        assumptions=f"<p>This rests on:</p><ul>{claims}</ul>" if claims else "",
    )


def _pick(place: int, collection: Collection, pick: PickStatement[str], round_: RoundResult[str] | None) -> str:
    item = collection[pick.item]
    if item.picture:
        shown = _picture(collection.large(item), item.alt or item.label)
    else:
        shown = f"<blockquote>{escape(item.text)}</blockquote>"
    how = "" if round_ is None else f"{counted(round_.answers, 'answer')}; {ENDED.get(round_.ended, round_.ended)}."
    named = item.picture or item.caption  # a text stands there in full
    name = f"<strong>{escape(collection.name_of(item.id))}</strong>" if named else ""
    early = "filled in" if pick.filled else "cut short" if pick.cut_short else ""
    mark = f'<em class="early">{early}</em>' if early else ""
    said = f"<p>{escape(' '.join(pick.sentences(collection.name_of)))}</p><p>{how}</p>"
    return (
        f'<figure><span class="place">{place}</span>{shown}'
        f"<figcaption><div>{name}{mark}{said}</div>{_runner_up(collection, pick)}</figcaption></figure>"
    )


def _runner_up(collection: Collection, pick: PickStatement[str]) -> str:
    """Who came second, in small."""
    if pick.runner_up is None or not collection[pick.runner_up].picture:
        return ""
    item = collection[pick.runner_up]
    return f'<div class="second">{_picture(collection.thumbnail(item), item.alt or item.label)}runner-up</div>'


def _picture(file: Path, alt: str) -> str:
    data = b64encode(file.read_bytes()).decode()
    return f'<img src="data:image/webp;base64,{data}" alt="{escape(alt)}">'


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{theme}</title>
<style>
:root {{ --ink: #1f2b35; --faint: #5a6670; --paper: #faf8f3; --surface: #fff; --line: #ddd7ca; --accent: #0b6f6a; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #eceae4; --faint: #a7b1b9; --paper: #12171b; --surface: #1b2228; --line: #2f3942; }}
  :root {{ --accent: #5cc9c0; }}
}}
body {{ margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; display: grid; gap: 1.25rem; }}
h1 {{ margin: 0; font-size: 2.2rem; line-height: 1.15; }}
.lead {{ margin: 0; color: var(--faint); font-size: 1.1rem; }}
.picks {{ display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }}
figure {{
  margin: 0; position: relative; background: var(--surface); border: 1px solid var(--line); border-radius: 14px;
  overflow: hidden; display: flex; flex-direction: column;
}}
img {{ display: block; width: 100%; height: auto; }}
figure > img {{ aspect-ratio: 4 / 3; object-fit: contain; background: var(--paper); }}
blockquote {{ margin: 0; padding: 1.5rem 1.25rem 1rem 3.25rem; white-space: pre-line; flex: 1; }}
figcaption {{ padding: .75rem 1rem; color: var(--faint); }}
figcaption {{ display: flex; flex-wrap: wrap; gap: 1rem; align-items: start; }}
figcaption div:first-child {{ flex: 1 1 14rem; min-width: 0; }}
figcaption p {{ margin: .25rem 0 0; }}
.early {{ float: right; font-style: normal; font-weight: 600; }}
.second {{ width: 7rem; font-size: .8rem; text-align: center; }}
.second img {{ border-radius: 8px; }}
figcaption strong {{ color: var(--ink); overflow-wrap: anywhere; }}
.place {{
  position: absolute; top: .6rem; left: .6rem; display: grid; place-items: center; width: 2rem; height: 2rem;
  border-radius: 50%; background: var(--accent); color: var(--surface); font-weight: 700;
}}
details {{ border-top: 1px solid var(--line); padding-top: 1rem; }}
summary {{ cursor: pointer; color: var(--accent); font-weight: 600; }}
</style></head><body><main>
<h1>{theme}</h1>
<p class="lead">{lead}</p>
<div class="picks">{picks}</div>
<p>{verdict}</p>
<details><summary>What may be claimed, and on what it rests</summary><p>{certificate}</p>{assumptions}</details>
</main></body></html>
"""
