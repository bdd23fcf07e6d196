"""A person's own code: with it they can have themselves forgotten, from any device and without a login.

It is made from the server's secret and the person's pseudonym, so that nothing is stored for it and nobody can make it
from an export.
"""

from __future__ import annotations

import hmac
from base64 import b32encode

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.tokens import Secret

LETTERS, GROUP = 16, 4


def code_of(secret: Secret, hosted: HostedStudy, pseudonym: str) -> str:
    """The code of somebody in a study: four groups of four letters and digits."""
    letters = _letters(secret, hosted.study.name, pseudonym)
    return "-".join(letters[at : at + GROUP] for at in range(0, LETTERS, GROUP))


def person_of_code(secret: Secret, hosted: HostedStudy, code: str) -> str | None:
    """The pseudonym whose code this is, however it was typed; None if it is nobody's here."""
    typed = "".join(letter for letter in code.lower() if letter.isalnum()).encode()
    names = {person.pseudonym for person in hosted.people.all()} | set(hosted.study.fold.workers.names)
    study = hosted.study.name
    return next((name for name in names if hmac.compare_digest(_letters(secret, study, name).encode(), typed)), None)


def _letters(secret: Secret, study: str, pseudonym: str) -> str:
    return b32encode(secret.derive("person", study, pseudonym))[:LETTERS].decode().lower()
