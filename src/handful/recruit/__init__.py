"""Recruiting: who comes from a panel, what becomes of them, how they are sent back, and how they are paid.

A panel is any service that sends people to an address with an id in it, and has an address back for each outcome.
"""

from __future__ import annotations

from handful.recruit.outcomes import Action, FormPost, Identity, Outcome, Redirect, ServerCall, ShowCode
from handful.recruit.panel import Panel, panel, preset
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
