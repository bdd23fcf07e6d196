"""What people agree to, as their page shows it: the organizer's text or the built-in one, and what a panel adds."""

from __future__ import annotations

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.settings import Settings
from handful.study.doors import Door


def shown_consent(settings: Settings, door: Door | None, recruited: bool = False) -> str | None:
    """The text that is agreed to where people come by this door; `recruited`: for a panel whatever the door is.

    The built-in text names a mark of the network only where one is kept. People from a panel are also told, in the
    language of the page, what is kept of its id.
    """
    consent = settings.agreed_to(marked=door is not None and door.caps_networks)
    of_panel = recruited or (door is not None and door.kind == "panel")
    return consent if consent is None or not of_panel else f"{consent}\n\n{settings.catalogue.said('consent.panel')}"


def consent_in(hosted: HostedStudy, settings: Settings) -> str | None:
    """What people of this study agree to with these settings."""
    return shown_consent(settings, hosted.door, hosted.desk is not None)
