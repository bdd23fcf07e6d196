"""What the page says to people from a panel when they are done."""

from __future__ import annotations

from handful.recruit.outcomes import Outcome

WORDS: dict[Outcome, tuple[str, str]] = {
    "finished": ("That was all. Thank you!", "Your answers are stored. Go back now, so that you are paid."),
    "refused": (
        "Thank you for looking in",
        "You did not agree, so nothing was asked of you. Please return your place where you came from.",
    ),
    "not_admitted": (
        "Thank you for trying",
        "This task is not the right one for you today. You are paid for your time; go back to end it.",
    ),
    "full": ("All places are taken", "Enough people are taking part already. Thank you for coming."),
    "returned": ("You have returned this", "Your place went to somebody else. Thank you for what you have answered."),
    "timed_out": ("The time is over", "Your place went to somebody else. Thank you for what you have answered."),
}
