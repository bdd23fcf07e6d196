"""A study on Prolific, from draft to stop: each call that moves money is written down before it and after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from handful.errors import InvalidProblem, RecruitingFailed, StudyExists, StudyNotFound
from handful.recruit.money import money
from handful.recruit.panel import Panel, preset
from handful.recruit.plan import Plan
from handful.recruit.prolific.client import Busy, NotSent, ProlificClient, Refused, StudyAction
from handful.recruit.prolific.draft import ADDRESS, BACK, FINISHED, REFUSED, check_address, drafts, new_codes, new_mark
from handful.recruit.records import Entry, Kind, Recruitment, Wanted
from handful.recruit.store import Store

BEFORE = ("UNPUBLISHED", "SCHEDULED")
BETWEEN = ("PUBLISHING", "PROCESSING")
"""Statuses that pass; nothing is concluded from them."""

GRACE_S = 120.0
"""For how long a call whose outcome is unknown may still take effect."""


@dataclass(frozen=True)
class Cost:
    """What a study costs with the platform's fees, in cents: its first places, and all it may grow to."""

    first_places: int
    first: int
    places: int
    all: int
    currency: str

    def __str__(self) -> str:
        first, most = money(self.first, self.currency), money(self.all, self.currency)
        return f"{first} for the first {self.first_places} places, and {most} for all {self.places} it may grow to"


class Recruiter:
    """One study on Prolific. Every method may be called again after a crash at any moment."""

    def __init__(self, store: Store, study: str, client: ProlificClient) -> None:
        self.store, self.study, self.client = store, study, client

    @property
    def clock(self) -> Callable[[], float]:
        return self.store.clock

    def recruitment(self) -> Recruitment:
        """What is stored; StudyNotFound if the study is not recruited for on Prolific."""
        found = self.store.recruitment(self.study)
        if found is None or not found.on_prolific:
            raise StudyNotFound(
                f"study {self.study!r} has no draft on Prolific yet: `handful recruit create` makes one"
            )
        return found

    def create(
        self,
        address: str,
        plan: Plan,
        *,
        name: str,
        description: str,
        screen_out: int | None = None,
    ) -> Recruitment:
        """Make a draft, which costs nothing and nobody sees. Called again, it finds the draft that was made."""
        check_address(address)
        if screen_out is not None and not 0 < screen_out < plan.reward:
            raise InvalidProblem(
                f"a screen-out of {money(screen_out, plan.currency)} is not between 0 and the reward of "
                f"{money(plan.reward, plan.currency)}"
            )
        with self.store.wallet(self.study):
            before = self.store.recruitment(self.study)
            if before is not None and before.platform_id is not None:
                if before.screen_out_wanted == screen_out and self._is_same(before, plan, name, description, address):
                    return before  # asked for again, because no reply came
                raise StudyExists(f"study {self.study!r} has a draft on Prolific already: `handful recruit status`")
            self._check_minimum(plan)
            mark = before.mark if before is not None and before.on_prolific else new_mark()
            codes = dict(before.codes) if before is not None and before.on_prolific else new_codes()
            made = Recruitment(
                self.study,
                preset("prolific"),
                plan,
                on_prolific=True,
                mark=mark,
                codes=codes,
                screen_out=screen_out,
                screen_out_wanted=screen_out,
            )
            made = self.store.keep(replace(made, panel=self._panel(codes)))
            return self.adopted(made) or self._created(made, name, description, address)

    def _is_same(self, before: Recruitment, plan: Plan, name: str, description: str, address: str) -> bool:
        """Whether the draft that is there is the one that is asked for."""
        told = self.client.study(self.id_of(before))
        asked = {"name": name, "description": description, "external_study_url": ADDRESS.format(address=address)}
        return before.plan == plan and all(told.get(key) == value for key, value in asked.items())

    def adopted(self, made: Recruitment) -> Recruitment | None:
        """The draft of a reply that was lost, found again by its mark."""
        for line in self.client.studies():
            if line.get("internal_name") == made.mark:
                told = self.client.study(str(line["id"]))
                offered = {code["code"] for code in told.get("completion_codes") or []}
                codes = {purpose: code for purpose, code in made.codes.items() if code in offered}
                screen_out = made.screen_out if "screened_out" in codes else None
                kept = replace(made, codes=codes, screen_out=screen_out, platform_id=str(told["id"]))
                return self.store.keep(replace(kept, status=told["status"], places=told["total_available_places"]))
        return None

    def _created(self, made: Recruitment, name: str, description: str, address: str) -> Recruitment:
        refusal: Refused | None = None
        offers = drafts(name, description, address, made.mark, made.plan, dict(made.codes), made.screen_out)
        for said, purposes, screen_out in offers:
            try:
                told = self.client.create_study(said)
            except Refused as error:
                if error.status != 400 or "completion_codes" not in error.detail:
                    raise
                refusal = error  # the workspace cannot have these codes: offer less
                continue
            codes = {purpose: made.codes[purpose] for purpose in purposes}
            return self.store.keep(
                replace(
                    made,
                    codes=codes,
                    screen_out=screen_out,
                    platform_id=str(told["id"]),
                    status=told.get("status"),
                    places=told.get("total_available_places"),
                )
            )
        assert refusal is not None
        raise refusal

    def _check_minimum(self, plan: Plan) -> None:
        least = self.client.least_per_hour(plan.currency)
        if least is not None and plan.per_hour < least:
            raise InvalidProblem(
                f"Prolific asks for at least {money(least, plan.currency)} per hour and the plan pays "
                f"{money(plan.per_hour, plan.currency)}: raise --per-hour"
            )

    @staticmethod
    def _panel(codes: dict[str, str]) -> Panel:
        return preset("prolific", done=BACK.format(code=codes[FINISHED]), refused=BACK.format(code=codes[REFUSED]))

    def cost(self) -> Cost:
        """What publishing costs, by the platform's own calculator."""
        recruitment = self.recruitment()
        plan = recruitment.plan
        first = plan.start_with if recruitment.places is None else recruitment.places
        return Cost(
            first,
            self.client.cost_of(plan.reward, first),
            plan.people,
            self.client.cost_of(plan.reward, plan.people),
            plan.currency,
        )

    def publish(self, agreed: int) -> Recruitment:
        """Publish the draft, which locks money, after a yes to a cost of so many cents for the first places."""
        with self.store.wallet(self.study):
            recruitment, told = self.seen()
            if told["status"] not in BEFORE:
                return self._want(recruitment, "active")
            self._refuse_while_unknown("publish")
            if told.get("is_underpaying"):
                raise RecruitingFailed("Prolific says that this study pays too little: raise --per-hour in a new draft")
            first = self.client.cost_of(recruitment.plan.reward, told["total_available_places"])
            if first > agreed:
                raise InvalidProblem(
                    f"publishing now costs {money(first, recruitment.plan.currency)}, more than the "
                    f"{money(agreed, recruitment.plan.currency)} that were agreed to: look at the cost and agree again"
                )
            recruitment = self._want(recruitment, "active")
            (number,) = self.store.write_down(self.study, "publish", [(None, first)])
            self.make([number], lambda: self.client.turn(self.id_of(recruitment), "PUBLISH"))
            self.store.settle([number], "done")
            return self.seen()[0]

    def pause(self) -> Recruitment:
        """Let nobody new in; those inside may finish."""
        return self._turn("paused", "PAUSE", ("ACTIVE",))

    def start(self) -> Recruitment:
        """End a pause."""
        return self._turn("active", "START", ("PAUSED",))

    def stop(self) -> Recruitment:
        """Let nobody in any more; those inside may finish and are paid."""
        return self._turn("stopped", "STOP", ("ACTIVE", "PAUSED"))

    def _turn(self, wanted: Wanted, action: StudyAction, statuses: tuple[str, ...]) -> Recruitment:
        with self.store.wallet(self.study):
            recruitment, told = self.seen()
            if told["status"] in BEFORE:
                raise InvalidProblem("the study is not published yet: `handful recruit publish`")
            recruitment = self._want(recruitment, wanted)
            if told["status"] in statuses:
                self.client.turn(self.id_of(recruitment), action)
            return self.seen()[0]

    def grow(self, recruitment: Recruitment) -> Recruitment:
        """Open more places, up to the plan's. Within the wallet."""
        now = recruitment.places or 0
        places, reward = recruitment.plan.more_places(now), recruitment.plan.reward
        cents = self.client.cost_of(reward, places) - self.client.cost_of(reward, now)
        (number,) = self.store.write_down(self.study, "places", [(None, cents)], words=f"{now} to {places} places")
        self.make([number], lambda: self.client.set_places(self.id_of(recruitment), places))
        self.store.settle([number], "done")
        return self.seen()[0]

    def seen(self) -> tuple[Recruitment, dict[str, Any]]:
        """The study as the platform shows it now, kept."""
        recruitment = self.recruitment()
        told = self.client.study(self.id_of(recruitment))
        places = told["total_available_places"]
        if (told["status"], places) != (recruitment.status, recruitment.places):
            recruitment = self.store.keep(replace(recruitment, status=told["status"], places=places))
        return recruitment, told

    def make(self, numbers: list[int], call: Callable[[], object]) -> None:
        """Make a call that is written down. A clear no is written down too; an unknown outcome stays open."""
        try:
            call()
        except (Refused, NotSent) as error:
            self.store.settle(numbers, "not_done" if isinstance(error, NotSent | Busy) else "refused", str(error))
            raise

    def open_entries(self, *kinds: Kind) -> list[Entry]:
        """Lines of the ledger whose outcome is unknown."""
        return [entry for entry in self.store.entries(self.study) if entry.kind in kinds and entry.unknown]

    def _refuse_while_unknown(self, kind: Kind) -> None:
        if self.open_entries(kind):
            raise RecruitingFailed(
                "an earlier call to publish has an unknown outcome and is not repeated: `handful recruit reconcile` "
                f"finds out what came of it; that may take {GRACE_S / 60:.0f} minutes"
            )

    def _want(self, recruitment: Recruitment, wanted: Wanted) -> Recruitment:
        return recruitment if recruitment.wanted == wanted else self.store.keep(replace(recruitment, wanted=wanted))

    @staticmethod
    def id_of(recruitment: Recruitment) -> str:
        if recruitment.platform_id is None:
            raise RecruitingFailed(
                "creating the draft was interrupted: run the same `handful recruit create` again, which finds it"
            )
        return recruitment.platform_id
