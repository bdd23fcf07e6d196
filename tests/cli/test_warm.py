"""`handful warm` compiles all, says how long it took, and finds nothing to do the second time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import NullCache

from handful import compilation, kernels
from handful.cli import main
from handful.explorers import protocol

README = Path(__file__).resolve().parents[2] / "README.md"
WARM = "from handful.cli import main; main()"
EXAMPLES = """
import re, sys
from pathlib import Path
from handful.kernels import seconds_compiling

names = {}
for block in re.findall(r"```python\\n(.*?)```", Path(sys.argv[1]).read_text(encoding="utf-8"), re.DOTALL):
    exec(block, names)
print("seconds", seconds_compiling())
"""


def run_warm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["handful", "warm"])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), capsys.readouterr().err


def compile_something() -> None:
    def add(x):  # type: ignore[no-untyped-def]
        return x + 1

    add.__module__ = "handful.made_up"
    compiled = kernels.kernel(add)
    compiled._cache = NullCache()  # type: ignore[attr-defined]
    assert compiled(1) == 2


def test_every_explorer_is_compiled_for_every_kind_of_answers_it_asks_for() -> None:
    named = dict(compilation.tasks())
    built = {type(run.args[0].build(run.args[1])) for run in named.values()}  # type: ignore[attr-defined]
    known = {state for state in protocol._KERNELS if state.__module__.startswith("handful.explorers.")}
    assert built == known
    assert {name.partition(", ")[2] for name in named} == set(compilation.ANSWERS)


def test_it_says_how_long_it_took_or_that_there_was_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compilation, "tasks", lambda _: iter([("something", compile_something)]))
    code, said = run_warm(monkeypatch, capsys)
    assert code == 0
    assert "handful: compiled in 0 s, and kept for the next time" in said
    monkeypatch.setattr(compilation, "tasks", lambda _: iter([("nothing", lambda: None)]))
    assert "handful: all is compiled already" in run_warm(monkeypatch, capsys)[1]


def test_it_says_no_where_nothing_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compilation, "tasks", lambda _: iter([]))
    monkeypatch.setattr(kernels.kernel_cache.KernelCache, "keeps", False)
    code, said = run_warm(monkeypatch, capsys)
    assert code == 1
    assert "NUMBA_CACHE_DIR" in said


@pytest.mark.slow
def test_afterwards_the_examples_of_the_readme_compile_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        warm = subprocess.run([sys.executable, "-c", WARM, "warm"], capture_output=True, text=True, check=True)
    assert "all is compiled already" in warm.stderr
    command = [sys.executable, "-c", EXAMPLES, str(README)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "seconds 0.0"
    assert done.stderr == ""
