"""Events after which the result of a study is another one."""

from __future__ import annotations

from handful.study.events import Closed, Excluded, Reopened, Restored, RoundClosed, Withdrawn

TURNING = (RoundClosed, Excluded, Restored, Withdrawn, Closed, Reopened)
