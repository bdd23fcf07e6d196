"""From the wheel, with the core's dependencies alone: each command runs, or says what it needs."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest
import typer

import handful.cli
from tests.forked import forking
from tests.packaging.building import ROOT, built, copied, plain_environment, unpacked

ITEMS = "id\na\nb\nc\nd\n"
JUDGE = "def better(q):\n    return q.item < q.rival\n"
SELECT = ("select", "items.csv", "-k", "2", "--oracle", "judge:better", "--preferences", "--budget", "8")
PRICED = ("-n", "4", "-k", "2", "--preferences", "--quality", "0.5", "--runs", "2")
CROWD, PLOTS = (f"pip install 'handful[{extra}]'" for extra in ("crowd", "plots"))
# In this order: what the first one stores is looked at by those after it. "" runs; else what it asks for.
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "select": (SELECT, ""),
    "list": (("list",), ""),
    "status": (("status",), ""),
    "export": (("export",), ""),
    "replay": (("replay", "--check"), ""),
    "preregister": (("preregister",), ""),
    "people list": (("people", "list", "items"), ""),
    "people erase": (("people", "erase", "items", "w1"), "nobody in study 'items' is known as 'w1'"),
    "invite new": (("invite", "new", "items", "2"), ""),
    "invite list": (("invite", "list", "items"), ""),
    "invite revoke": (("invite", "revoke", "items", "1"), ""),
    "organize exclude": (("organize", "exclude", "items", "w1", "--yes"), "no worker 'w1'"),
    "organize restore": (("organize", "restore", "items", "w1"), "no worker 'w1'"),
    "organize leave": (("organize", "leave", "items", "w1"), "no worker 'w1'"),
    "organize extend": (("organize", "extend", "items", "4"), "too late to extend"),
    "organize pause": (("organize", "pause", "items"), "too late to pause"),
    "organize resume": (("organize", "resume", "items"), "too late to pause"),
    "organize close": (("organize", "close", "items", "--yes"), ""),
    "keys show": (("keys", "show"), CROWD),
    "keys renew": (("keys", "renew"), CROWD),
    "recruit plan": (("recruit", "plan"), ""),
    "recruit prolific": (("recruit", "prolific", "--address", "https://photos.example.org/s/items"), CROWD),
    "recruit panel": (("recruit", "panel", "--id", "person"), ""),
    "recruit steps": (("recruit", "steps"), ""),
    "recruit status": (("recruit", "status"), CROWD),
    "recruit pay-list": (("recruit", "pay-list"), ""),
    "recruit reconcile": (("recruit", "reconcile"), CROWD),
    "recruit decide": (("recruit", "decide", "--who", "w1", "--pay"), CROWD),
    "recruit bonus": (("recruit", "bonus", "items", "w1", "1.50"), CROWD),
    "price": (("price", *PRICED), ""),
    "plot": (("plot", "-o", "items.png"), PLOTS),
    "serve": (("serve", "photos", "-k", "2", "--theme", "Boats"), CROWD),
    "backup": (("backup", "items.db", "-o", "items.zip"), CROWD),
    "demo": (("demo", "--fast", "--exit-when-done"), CROWD),
}
GROUPS = [f"handful.cli.{group.name}" for group in pkgutil.iter_modules(handful.cli.__path__)]
HANDFUL = "import sys; from handful.cli import main; sys.argv[0] = 'handful'; main()"
ALIKE = {"recruit status", "recruit decide", "recruit bonus"}
"""They ask for the same extra as `recruit reconcile`; tried in the slow test only."""
LONG = {"warm": ("warm",)}  # what compiles everything is only asked for its help, except in the slow test


@pytest.fixture(scope="module")
def built_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The archive of the source, the wheel that is built from it, and the one that is built without it."""
    folder = tmp_path_factory.mktemp("built")
    source = copied(folder)
    sdist = built("sdist", source, folder / "sdist")
    from_sdist = built("wheel", unpacked(sdist, folder / "unpacked"), folder / "wheel")
    return sdist, from_sdist, built("wheel", source, folder / "direct")


@pytest.fixture(scope="module")
def plain(built_twice: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plain_environment(tmp_path_factory.mktemp("plain") / "venv", built_twice[1])


def commands() -> set[str]:
    """All there are, from the command line itself."""
    for group in GROUPS:
        importlib.import_module(group)
    return set(_names(typer.main.get_command(handful.cli.app)))


def _names(command: object, before: str = "") -> list[str]:
    inner: dict[str, object] | None = getattr(command, "commands", None)
    if inner is None:
        return [before.strip()]
    return [name for key, one in inner.items() for name in _names(one, f"{before} {key}")]


def test_every_command_is_tried() -> None:
    assert commands() == {*COMMANDS, *LONG}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_each_command_runs_or_says_what_it_needs(plain: Path, tmp_path: Path) -> None:
    try_each({name: command for name, command in COMMANDS.items() if name not in ALIKE}, plain, tmp_path)


def try_each(commands: dict[str, tuple[tuple[str, ...], str]], plain: Path, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "judge.py").write_text(JUDGE)
    with forking("tests.numba_ready", "handful.study", *GROUPS, python=plain.parent / "python") as forked:
        for name, (arguments, needed) in commands.items():
            command = [*forked, HANDFUL, *arguments]
            ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            said = " ".join(ran.stderr.split())
            assert "Traceback" not in said, (name, ran.stderr)
            if needed:
                assert ran.returncode == 2, (name, said)
                assert needed in said, (name, said)
            else:
                assert ran.returncode == 0, (name, said)
    for arguments in ((), *LONG.values()):
        helped = subprocess.run([plain, *arguments, "--help"], capture_output=True, text=True, check=True)
        assert "Usage: handful" in helped.stdout


def test_it_is_plain(plain: Path) -> None:
    extras = ["fastapi", "matplotlib", "PIL", "pandas", "pytest"]
    seen = f"from importlib.util import find_spec; print([name for name in {extras} if find_spec(name)])"
    ran = subprocess.run([plain.parent / "python", "-c", seen], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_archive_of_the_source_is_whole(built_twice: tuple[Path, Path, Path], tmp_path: Path) -> None:
    sdist, _, _ = built_twice
    there = unpacked(sdist, tmp_path)
    files = {str(path.relative_to(there)) for path in there.rglob("*") if path.is_file()}
    made = {"PKG-INFO", "setup.cfg"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:  # else this is an unpacked archive itself
        kept = {file for file in listed.stdout.splitlines() if not file.startswith(".") and (ROOT / file).exists()}
        assert {file for file in files - made if ".egg-info" not in file} == kept
    assert {"LICENSE", "CITATION.cff", "SECURITY.md", "tests/conftest.py", "docs/index.md", "Makefile"} <= files


def test_the_wheel_is_the_same_from_the_archive_and_has_every_file(built_twice: tuple[Path, Path, Path]) -> None:
    _, from_sdist, direct = built_twice
    names = [set(zipfile.ZipFile(wheel).namelist()) for wheel in (from_sdist, direct)]
    assert names[0] == names[1]
    packaged = {name for name in names[0] if not name.startswith("handful-")}
    source = ROOT / "src"
    there = {str(p.relative_to(source)) for p in (source / "handful").rglob("*") if p.is_file()}
    assert packaged == {name for name in there if "__pycache__" not in name and not name.endswith((".nbi", ".nbc"))}
    assert any(name.endswith("licenses/LICENSE") for name in names[0])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_pip_installs_it_into_a_clean_environment_and_the_core_alone_works(
    built_twice: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *constraints, str(built_twice[1])], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    try_each(COMMANDS, tmp_path / "venv/bin/handful", tmp_path)
    for arguments in LONG.values():
        subprocess.run([tmp_path / "venv/bin/handful", *arguments], check=True)
    ran = subprocess.run(
        [tmp_path / "venv/bin/handful", "demo", "--terminal"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "share of exact greedy" in ran.stdout
