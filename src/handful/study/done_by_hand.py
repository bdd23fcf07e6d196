"""What was done to a study by hand that no preregistration foresees: told from its journal, also what was undone."""

from __future__ import annotations

import json
from collections.abc import Iterable

from handful.storage import Record
from handful.study import events
from handful.study.conduct import NOT_VERIFIED, WITHDREW
from handful.wording import counted


def done_by_hand(records: Iterable[Record]) -> list[str]:
    """One sentence for each kind of thing; nothing where a study was left to itself."""
    more, doors, withdrawn = 0, 0, 0
    excluded, restored, waiting = 0, 0, set[str]()
    for record in records:
        if record.kind not in _LOOKED_AT:
            continue
        told = json.loads(record.payload)
        if record.kind == events.Extended.kind:
            more += told["n"]
        elif record.kind == events.DoorChanged.kind:
            doors += 1
        elif record.kind == events.Withdrawn.kind:
            withdrawn += 1
        elif record.kind == events.Excluded.kind:
            excluded += not told.get("rule", False) and told.get("why") != WITHDREW
            if told.get("why") == NOT_VERIFIED and told.get("rule", False):
                waiting.add(told["w"])
        else:
            verified = told["w"] in waiting and not told.get("u", False)  # by the panel: that was foreseen
            restored += not verified
            waiting.discard(told["w"])
    said = [
        (more, f"the budget grew by {counted(more, 'answer')}"),
        (doors, f"how people come was changed ({counted(doors, 'time')})"),
        (withdrawn, f"{counted(withdrawn, 'item')} could be chosen no more"),
        (excluded, f"people were excluded by hand ({counted(excluded, 'time')})"),
        (restored, f"people were restored by hand ({counted(restored, 'time')})"),
    ]
    return [sentence for happened, sentence in said if happened]


_LOOKED_AT = {
    kind.kind
    for kind in (
        events.Extended,
        events.DoorChanged,
        events.Withdrawn,
        events.Excluded,
        events.Restored,
    )
}
