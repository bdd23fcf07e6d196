"""A preregistration as a page that stands alone, to be posted where others can read it before the study begins."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from html import escape
from typing import Any

from handful.study.preregistration import FIELDS, to_json
from handful.study.rules import EXCLUDE
from handful.wording import counted

UNVERIFIED = (
    "Whoever comes from a panel and cannot be verified by the end is excluded: nothing they answered counts. Their pay "
    "is then for the organizer to decide, and does not depend on what they answered."
)
BUILT_IN = "the built-in words"
UNSAID = {
    "question": BUILT_IN,
    "welcome": BUILT_IN,
    "thanks": BUILT_IN,
    "goal": "no number is shown",
    "beta": "not known",
}
"""What it means that the organizer said nothing."""

NAMES = {
    "admission": "Admitted after",
    "beta": "β, how sharply people tell the better one",
    "checks": "Checks",
    "consent": "What people agree to",
    "exclude_if": "Excluded if",
    "goal": "Answers that each is asked for",
    "instruction": "On a check's card",
    "ipv4": "Leading bits of an IPv4 address that make a network",
    "ipv6": "Leading bits of an IPv6 address that make a network",
    "ms": "Milliseconds",
    "rule": "Rule",
    "in_flight_left": "Whether the first run says how many may be out",
    "options": "Shown at a time",
    "right_at_least": "Of these right at least",
    "sha256": "As shown",
    "everybody_who_finishes": "Everybody who finishes is paid",
    "share_of_round_at_most": "Share of a round that one person may have",
    "tau": "τ, comparisons in one query",
    "uploaded": "As uploaded",
    "why": "Why",
}


def page_of(record: Mapping[str, Any], answers: int = 0, built_in: Mapping[str, str] | None = None) -> str:
    """The record as a page that stands alone, to be posted before the start; `answers` are those there were by then.

    `built_in`: what people read where the record names no words of the organizer's.
    """
    when = "before its first answer" if answers == 0 else f"after {counted(answers, 'answer')}"
    spoken, unwritten = record.get("language") or "en", built_in or {}
    rows = "\n".join(
        f"<div><dt>{escape(FIELDS.get(key) or _name(key))}</dt><dd>{_field(key, value, spoken, unwritten)}</dd></div>"
        for key, value in record.items()
        if value is not None
    )
    name = str(record["study"])
    return _PAGE.format(
        title=escape(name), typed=escape(shlex.quote(name)), when=when, rows=rows, json=escape(to_json(record))
    )


def _field(key: str, value: Any, spoken: str, built_in: Mapping[str, str]) -> str:
    if key == "items":
        lines = "".join(f"<li>{escape(str(one['name']))} {_digests_said(one)}</li>" for one in value["each"])
        return (
            f"{value['number']:,}; digest of the list <code>{value['digest']}</code>"
            f"<details><summary>Each item</summary><ol>{lines}</ol></details>"
        )
    if key == "rule" and isinstance(value, dict) and value.get("unverified") == EXCLUDE:
        return f"<p>{escape(UNVERIFIED)}</p>{_said(value)}"
    if key == "words":
        return _said({name: one or built_in.get(name) for name, one in value.items()}, spoken=spoken)
    return f"<code>{escape(str(value))}</code>" if key in ("seed", "hash") else _said(value)


def _said(value: Any, key: str = "", spoken: str = "en") -> str:
    """A value as people write it: tables by the names of their entries, lists as lists, yes and no.

    `spoken`: the language that its texts are in.
    """
    if value is None or value in ("", [], {}):
        return UNSAID.get(key, "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, dict):
        entries = (
            f"<dt>{escape(NAMES.get(name) or _name(name))}</dt><dd>{_said(one, name, spoken)}</dd>"
            for name, one in value.items()
        )
        return f"<dl>{''.join(entries)}</dl>"
    if isinstance(value, list):
        return f"<ul>{''.join(f'<li>{_said(one, key, spoken)}</li>' for one in value)}</ul>"
    if key in ("sha256", "uploaded"):
        return f"<code>{escape(str(value))}</code>"
    text = str(value).replace("_", " ") if key == "rule" else str(value)
    return f'<span dir="auto" lang="{escape(spoken)}">{escape(text)}</span>'


def _name(key: str) -> str:
    """A name that is not known, as it would be written; that of a file stays as it is."""
    return key if "." in key else key.replace("_", " ")[:1].upper() + key.replace("_", " ")[1:]


def _digests_said(item: Mapping[str, str]) -> str:
    """An item's digests; with words where there are two, of its file as it was given and of what people see."""
    if "uploaded" not in item:
        return f"<code>{item['sha256']}</code>"
    return f"as uploaded <code>{item['uploaded']}</code>, as shown <code>{item['sha256']}</code>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preregistration: {title}</title>
<style>
:root {{ color-scheme: light dark; --paper: #faf8f3; --ink: #1f2b35; --faint: #5a6670; --line: #ddd7ca; }}
@media (prefers-color-scheme: dark) {{
:root {{ --paper: #12171b; --ink: #eceae4; --faint: #a7b1b9; --line: #2f3942; }}
}}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
html, body {{ background: var(--paper); color: var(--ink); }}
h1, dt, dd, li, p {{ overflow-wrap: anywhere; }}
.record, .record dl, .record p, .record ul, .record ol {{ margin: 0; }}
.record > div {{ display: grid; grid-template-columns: 14rem 1fr; gap: .25rem 1rem; padding: .6rem 0; }}
.record > div {{ border-bottom: 1px solid var(--line); }}
.record > div > dt {{ font-weight: 600; }}
dd {{ margin: 0; }}
dd dt {{ color: var(--faint); font-size: .875rem; }}
dd dd {{ margin: 0 0 .5rem; }}
dd dd dl {{ padding-inline-start: .75rem; border-inline-start: 2px solid var(--line); }}
ul, ol {{ padding-inline-start: 1.25rem; }}
span[dir] {{ display: block; white-space: pre-line; }}
code, pre {{ font-size: .875rem; overflow-wrap: anywhere; white-space: pre-wrap; }}
@media (max-width: 40rem) {{ .record > div {{ grid-template-columns: 1fr; }} }}
</style></head><body><main>
<h1>Preregistration: {title}</h1>
<p>What this study will do, written down {when}. To check afterwards that it was done, keep the JSON at
the end in a file and run <code>handful replay {typed} --check --against FILE</code>.</p>
<dl class="record">{rows}</dl>
<details><summary>The record as JSON</summary><pre>{json}</pre></details>
</main></body></html>
"""
