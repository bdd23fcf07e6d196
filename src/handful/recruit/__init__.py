"""Recruiting: who comes from a panel, what becomes of them, how they are sent back, and how they are paid."""

from __future__ import annotations

import logging

from handful.recruit.panel import (
    Action,
    FormPost,
    Identity,
    Outcome,
    Panel,
    Redirect,
    ServerCall,
    ShowCode,
    panel,
    preset,
)
from handful.recruit.plan import Plan

__all__ = [
    "Action",
    "FormPost",
    "Identity",
    "Outcome",
    "Panel",
    "Plan",
    "Redirect",
    "ServerCall",
    "ShowCode",
    "panel",
    "preset",
]

logging.getLogger("httpx").setLevel(logging.WARNING)  # below that it tells whole addresses, which hold people's ids
