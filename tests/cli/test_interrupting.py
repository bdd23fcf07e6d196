"""Ctrl-C ends a command with one sentence, also while it compiles or is not yet there."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import pytest

from handful import cli
from handful.kernels import INTERRUPTED, kernel


@kernel
def doubled(x: int) -> int:
    return 2 * x


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets somebody press Ctrl-C while a kernel is compiled."""
    from numba.core import compiler

    def ctrl_c(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "compile_extra", ctrl_c)
    return ctrl_c


def test_ctrl_c_while_it_compiles_says_so_without_where_in_numba_that_was(interrupted: object) -> None:
    with pytest.raises(KeyboardInterrupt, match="interrupted while compiling") as caught:
        doubled(3)
    assert len("".join(traceback.format_exception(caught.value)).splitlines()) < 20


@pytest.mark.parametrize("words", ["", INTERRUPTED])
@pytest.mark.parametrize("place", ["handful.storage.list_studies", "handful.cli.import_module"])
def test_ctrl_c_ends_a_command_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str, words: str
) -> None:
    def ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt(*filter(None, [words]))

    monkeypatch.setattr(place, ctrl_c)
    monkeypatch.setattr(sys, "argv", ["handful", "list", "--storage", "postgresql://nobody@nowhere/none"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == f"handful: {words or 'interrupted'}\n"
