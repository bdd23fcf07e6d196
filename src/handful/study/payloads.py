"""The JSON of records. Nearly all say that something was asked or told: these are written without a general encoder.

Both ways give the same text to the letter, for a journal must not tell by which of them it was written.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any

import numpy as np


def _numpy_number(x: object) -> object:
    """A number of NumPy as one that JSON knows; TypeError for anything else."""
    if isinstance(x, np.generic):
        return x.item()
    raise TypeError(f"{type(x).__name__} is none of its types")


encoded = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_numpy_number).encode


def asked_payload(question: int, item: int, rival: int, worker: str | None, more: tuple[int, ...], copy: int) -> str:
    """What a record of a question says."""
    text = f'{{"q":{_number(question)},"i":{_number(item)}'
    if rival != -1:
        text += f',"j":{_number(rival)}'
    if worker is not None:
        text += f',"w":{_text(worker)}'
    if more:
        text += f',"o":{encoded(more)}'
    if copy != -1:
        text += f',"c":{_number(copy)}'
    return text + "}"


def told_payload(
    question: int, answer: float | bool, worker: str | None, undo_until: float | None, meta: Any, duration: int | None
) -> str:
    """What a record of an answer says."""
    text = f'{{"q":{_number(question)},"a":{_number(answer)}'
    if worker is not None:
        text += f',"w":{_text(worker)}'
    if undo_until is not None:
        text += f',"u":{_number(undo_until)}'
    if meta is not None:
        text += f',"m":{encoded(meta)}'
    if duration is not None:
        text += f',"d":{_number(duration)}'
    return text + "}"


def _number(x: float | bool) -> str:
    if type(x) is int or (type(x) is float and isfinite(x)):
        return repr(x)
    return encoded(x)


def _text(x: str) -> str:
    return encode_basestring_ascii(x) if type(x) is str else encoded(x)
