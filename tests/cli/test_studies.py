"""The commands about studies, as a person or a script meets them."""

from __future__ import annotations

import csv
import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.cli import as_options, main
from handful.crowd.intake import ingest
from handful.explorers.registry import EXPLORERS
from handful.kernels import COMPILING
from handful.storage import open_journal
from tests.cli import help_pages

JUDGE = """
import time
from pathlib import Path

def better(q):
    return (int(q.item[1:]) - int(q.rival[1:])) + q.seed % 7 - 3 > 0

def number(q):
    return int(q.item[1:]) + q.seed % 1000 / 1000

def slow(q):
    time.sleep(0.02 if q.number < 20 or Path("go on").exists() else 600)
    return better(q)

def broken(q):
    if q.number == 5:
        raise RuntimeError("no electricity")
    return better(q)

def best(q):
    return max(q.options, key=lambda name: int(name[1:]))

text = "not a function"
"""


@dataclass
class Said:
    """What a command printed and how it ended."""

    out: str
    err: str
    code: int


Handful = Callable[..., Said]


@pytest.fixture
def handful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Handful:
    """`handful(...)` in a folder with items and an oracle."""
    (tmp_path / "judge.py").write_text(JUDGE)
    lines = [f"p{i},canal;boat{i % 3},{10 * i + 5}" for i in range(10)]
    (tmp_path / "photos.csv").write_text("\n".join(["id,tags,views", *lines]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("judge", None)

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["handful", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Said(said.out, said.err, int(ended.value.code or 0))

    return run


SELECT = ("select", "photos.csv", "-k", "3", "--oracle", "judge:better", "--preferences", "--budget", "90")


def test_select_picks_and_says_what_may_be_claimed(handful: Handful) -> None:
    said = handful("select", "photos.csv", "-k", "2", "--oracle", "judge:number", "--noise", "0.5", "--epsilon", "4")
    assert said.code == 0
    assert "2 chosen with" in said.out
    assert "f(OPT)" in said.out
    assert "2 of 2 picked" in said.err


def test_select_is_repeated_without_asking_again(handful: Handful) -> None:
    first = json.loads(handful(*SELECT, "--json").out)
    again = json.loads(handful(*SELECT, "--json").out)
    assert first == again
    once_more = handful(*SELECT)
    assert "nothing is asked any more: all 3 items are picked" in once_more.err
    assert "3 chosen with 90 answers" in once_more.out
    assert first["answers"] == 90
    assert len(first["chosen"]) == 3


def test_select_answers_from_tags_and_views(handful: Handful) -> None:
    options = ("--objective", "coverage", "--per-item", "3", "--in-flight", "4", "--json")
    found = json.loads(handful("select", "photos.csv", "-k", "2", *options, "--noise", "0.2").out)
    assert found["answers"] == 60
    assert "p9" in found["chosen"]
    assert handful("select", "photos.csv", "-k", "2", *options, "--preferences", "--name", "people").code == 0


def test_select_shows_several_options_and_prices_them(handful: Handful) -> None:
    choices = ("select", "photos.csv", "-k", "2", "--preferences", "--options", "4", "--budget", "60", "--json")
    found = handful(*choices, "--oracle", "judge:best")
    assert json.loads(found.out)["chosen"] == ["p9", "p8"]
    assert "one of the options" in handful(*choices, "--oracle", "judge:number", "--name", "other").err
    assert handful(*choices, "--objective", "coverage", "--name", "third").code == 0
    assert handful("replay", "photos", "--check").code == 0
    price = handful(
        "price", "-n", "10", "-k", "2", "--preferences", "--options", "4", "--quality", "0.9", "--runs", "5"
    )
    assert "choices among 4" in price.out
    assert "give --preferences too" in handful("price", "-n", "9", "-k", "2", "--noise", "1", "--options", "4").err


def test_select_in_processes_and_on_a_cluster_picks_what_it_picks_here(handful: Handful) -> None:
    distributed = pytest.importorskip("distributed")
    here = handful(*SELECT, "--json", "--in-flight", "64", "--name", "here")
    there = handful(*SELECT, "--json", "--n-jobs", "2", "--name", "there")
    assert json.loads(there.out) == json.loads(here.out)
    with distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        far = handful(*SELECT, "--json", "--dask", address, "--in-flight", "64", "--name", "far")
    assert json.loads(far.out) == json.loads(here.out)


def test_another_study_of_the_same_name_is_not_mistaken_for_this_one(handful: Handful) -> None:
    handful(*SELECT)
    said = handful(*SELECT, "--seed", "4")
    assert said.code == 2
    assert "it is another one (seed: 0 there, 4 here)" in said.err


def test_a_larger_budget_goes_on_with_the_same_study(handful: Handful) -> None:
    broken = tuple(part.replace("better", "broken") for part in SELECT)
    handful(*broken)
    said = handful(*SELECT[:-1], "120", "--json")
    assert said.code == 0
    assert "30 more answers may be spent" in said.err
    assert json.loads(said.out)["answers"] == 120
    again = handful(*SELECT[:-1], "120", "--json")
    assert again.code == 0
    assert json.loads(again.out)["answers"] == 120
    less = handful(*SELECT[:-1], "100")
    assert less.code == 2
    assert "budget: 120 there, 100 here" in less.err
    more = handful(*SELECT[:-1], "200")
    assert more.code == 2
    assert "that is finished" in more.err


def test_select_certifies_a_share_of_the_optimum(handful: Handful) -> None:
    options = ("--oracle", "judge:number", "--noise", "0.5", "--ratio", "0.8", "--json")
    found = json.loads(handful("select", "photos.csv", "-k", "2", *options).out)
    assert found["certificate"]["ratio"] >= 0.8


def test_advice_is_given_in_the_options_of_the_command_line(handful: Handful) -> None:
    said = handful("select", "photos.csv", "-k", "3", "--oracle", "judge:better", "--preferences")
    assert said.code == 2
    assert "--budget" in said.err
    assert "budget=" not in said.err
    assert as_options("give Values(noise=R) or epsilon=, not x=1") == "give --noise R or --epsilon, not x=1"


def test_whoever_has_seen_enough_of_an_export_may_go(handful: Handful, tmp_path: Path) -> None:
    handful(*SELECT)
    command = f"{sys.executable} -c 'from handful.cli import main; main()' export | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
    assert done.stderr == ""


def test_an_oracle_that_fails_keeps_the_answers_and_says_how_to_go_on(handful: Handful, tmp_path: Path) -> None:
    broken = tuple(part.replace("better", "broken") for part in SELECT)
    said = handful(*broken)
    assert said.code == 1
    assert "the oracle failed: RuntimeError: no electricity (judge.py, line 17, in broken)" in said.err
    assert f"5 answers kept; to go on: handful {' '.join(broken)}" in said.err
    assert json.loads(handful("status", "--json").out)["answers"] == 5


def test_ctrl_c_stops_cleanly_and_says_how_to_resume(handful: Handful, tmp_path: Path) -> None:
    slow = tuple(part.replace("better", "slow") for part in SELECT)
    command = [sys.executable, "-c", "from handful.cli import main; main()", *slow]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=_hear_interrupts)
    while running.poll() is None and _answers(tmp_path) < 20:  # then it waits for the oracle
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "all kept; to go on: handful" in err
    assert "Traceback" not in err
    before = json.loads(handful("status", "--json").out)["answers"]
    assert 0 < before < 90
    (tmp_path / "go on").touch()
    found = handful(*slow, "--json")
    assert found.code == 0
    assert json.loads(found.out)["answers"] == 90


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _answers(folder: Path) -> int:
    try:
        connection = sqlite3.connect(f"file:{folder}/handful.db?mode=ro", uri=True)
        try:
            return int(connection.execute("select count(*) from events where kind = 'told'").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def test_list_and_status_tell_what_there_is(handful: Handful) -> None:
    handful(*SELECT)
    handful(*SELECT, "--name", "second")
    assert [study["name"] for study in json.loads(handful("list", "--json").out)] == ["photos", "second"]
    assert "second" in handful("list").out
    status = handful("status", "photos")
    assert "3 of 3 picked from 10; 90 answers of 90" in " ".join(status.out.split())
    assert json.loads(handful("status", "photos", "--json").out)["finished"] == "all 3 items are picked"
    assert "say which one; there are: photos, second" in handful("status").err


def test_who_looks_in_the_wrong_file_is_told_of_the_others(handful: Handful, tmp_path: Path) -> None:
    Study(["a", "b", "c"], 2, feedback=Preferences(), budget=30, storage=tmp_path / "photos.db").close()
    said = handful("status")
    assert said.code == 2
    assert "there is no handful.db in this folder; say where the study is: -s photos.db" in said.err


def test_status_of_an_unfinished_study_names_the_leader(handful: Handful, tmp_path: Path) -> None:
    with Study(["a", "b", "c"], 2, feedback=Preferences(), budget=30, storage=tmp_path / "handful.db") as study:
        for _ in range(4):
            for q in study.ask(1):
                study.tell(q.id, q.item == "b")
    assert "Round 1: 4 of at most 15 answers, 0 in flight; b leads" in handful("status").out


def test_status_calls_texts_without_a_name_by_how_they_begin(handful: Handful, tmp_path: Path) -> None:
    (tmp_path / "sayings.csv").write_text("text\nThe early bird catches the worm\nHaste makes waste\nAll is well\n")
    texts = ingest(tmp_path / "sayings.csv", tmp_path / "handful.db.items")
    with Study(texts.ids, 2, feedback=Preferences(), budget=20, storage=tmp_path / "handful.db") as study:
        study.run(lambda q: q.item < q.rival)
    said = " ".join(handful("status").out.split())
    assert "1. “The early bird catches the worm”: Won" in said
    assert "“Haste makes waste”" in said
    assert "row " not in said
    assert json.loads(handful("status", "--json").out)["chosen"] == ["row 2", "row 3"], "a program gets the ids"


def test_status_and_the_exported_result_say_how_far_people_agree(handful: Handful, tmp_path: Path) -> None:
    with Study(["a", "b", "c"], 2, feedback=Preferences(), budget=60, storage=tmp_path / "handful.db") as study:
        for turn in range(40):
            for q in study.ask(1, f"w{turn % 5}"):
                study.tell(q.id, q.item < q.rival, f"w{turn % 5}")
    said = " ".join(handful("status").out.split())
    assert "said the same 100% of the time" in said
    assert "That does not say how good the picks are" in said
    for told in (handful("status", "--json"), handful("export", "--format", "result")):
        assert json.loads(told.out)["agreement"]["share"] == 1.0


def test_status_and_exports_say_what_the_same_person_compared_again(handful: Handful, tmp_path: Path) -> None:
    with Study(["a", "b", "c"], 1, feedback=Preferences(), budget=7, storage=tmp_path / "handful.db") as study:
        for turn in range(7):
            for q in study.ask(1, "w0"):
                study.tell(q.id, q.item < q.rival, "w0")
                said = " ".join(handful("status").out.split()) if turn == 2 else ""
                assert "compared before" not in said
    assert "4 answers compare two items that the same person had compared before" in handful("status").out
    for told in (json.loads(handful("status", "--json").out)["result"], study.result().to_dict()):
        assert told["repeats"] == 4
    rows = list(csv.DictReader(handful("export").out.splitlines()))
    assert [row["repeat"] for row in rows] == ["0"] * 3 + ["1"] * 4


def test_export_streams_answers_and_journal(handful: Handful, tmp_path: Path) -> None:
    handful(*SELECT)
    rows = list(csv.DictReader(handful("export").out.splitlines()))
    assert len(rows) == 90
    assert rows[0]["question"] == "q0"
    assert rows[0]["item"].startswith("p")
    assert {row["answer"] for row in rows} == {"0", "1"}
    assert handful("export", "--format", "jsonl", "-o", "journal.jsonl").code == 0
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    assert lines[0]["kind"] == "created"


def test_no_cell_of_the_export_is_a_formula(handful: Handful, tmp_path: Path) -> None:
    items = ["=1+1", "-5", "@x", "plain"]
    with Study(items, 2, feedback=Preferences(), budget=8, storage=tmp_path / "handful.db") as study:
        for _ in range(8):
            for q in study.ask(1, "+cmd"):
                study.tell(q.id, True, "+cmd")
    rows = list(csv.DictReader(handful("export").out.splitlines()))
    assert {row["worker"] for row in rows} == {"'+cmd"}
    assert {row["item"] for row in rows} <= {"'=1+1", "-5", "'@x", "plain"}


def test_replay_checks_every_decision(handful: Handful, tmp_path: Path) -> None:
    handful(*SELECT)
    said = handful("replay", "--check")
    assert said.code == 0
    assert "every decision is the same" in said.out
    with closing(open_journal("handful.db", "photos", mode="read")) as journal:
        records = [r._replace(payload=r.payload.replace('"i":3', '"i":4')) for r in journal.read()]
    with closing(open_journal("other.db", "photos")) as journal:
        journal.append(records).wait()
    said = handful("replay", "-s", "other.db", "--check", "--json")
    assert said.code == 1
    assert json.loads(said.out)["mismatches"] > 0
    assert handful("replay", "-s", "other.db").code == 0
    assert "decisions differ" in handful("replay", "-s", "other.db").out


def test_replay_says_that_decisions_of_another_version_cannot_be_taken_again(handful: Handful, tmp_path: Path) -> None:
    handful(*SELECT)
    with closing(open_journal("handful.db", "photos", mode="read")) as journal:
        first, *others = journal.read()
    created = json.loads(first.payload)
    created["setup"]["handful"] = "0.0.9"
    with closing(open_journal("other.db", "photos")) as journal:
        journal.append([first._replace(payload=json.dumps(created)), *others]).wait()
    said = handful("replay", "-s", "other.db")
    assert said.code == 0
    assert "made by handful 0.0.9" in said.out
    assert "every decision is the same" not in said.out
    checked = handful("replay", "-s", "other.db", "--check", "--json")
    assert (checked.code, json.loads(checked.out)["mismatches"]) == (1, None)
    here, there = (json.loads(handful("status", "-s", url, "--json").out) for url in ("handful.db", "other.db"))
    assert (there["chosen"], there["answers"]) == (here["chosen"], here["answers"])
    assert there["result"]["certificate"] == here["result"]["certificate"]
    answers, recorded = (handful("export", "-s", url, "--format", "csv").out for url in ("handful.db", "other.db"))
    assert recorded.replace(",late,", ",answered,") == answers.replace(",late,", ",answered,")


def test_plot_draws_a_file(handful: Handful, tmp_path: Path) -> None:
    handful(*SELECT)
    assert handful("plot", "-o", "photos.png").code == 0
    assert (tmp_path / "photos.png").read_bytes().startswith(b"\x89PNG")


WRONG = [
    (("select", "nothing.csv", "-k", "2", "--objective", "coverage", "--noise", "1"), 2, "cannot be read"),
    (("select", "photos.csv", "-k", "2", "--noise", "1"), 2, "say who answers"),
    (("select", "photos.csv", "-k", "2", "--oracle", "judge", "--noise", "1"), 2, "module:function"),
    (("select", "photos.csv", "-k", "2", "--oracle", "nobody:f", "--noise", "1"), 2, "no module 'nobody'"),
    (("select", "photos.csv", "-k", "2", "--oracle", "judge:text", "--noise", "1"), 2, "no function 'text'"),
    (("select", "photos.csv", "-k", "99", "--oracle", "judge:better", "--preferences", "--budget", "9"), 2, "k = 99"),
    ((*SELECT, "--noise", "1"), 2, "leave them out with --preferences"),
    ((*SELECT, "--per-item", "2"), 2, "not both"),
    (("select", "photos.csv", "-k", "2", "--oracle", "judge:number", "--beta", "2"), 2, "give --preferences too"),
    (("select", "photos.csv"), 2, "-k"),
    (("status", "x", "--storage", "missing.db"), 2, "no study 'x'"),
    (("list", "--storage", "missing.db"), 2, "no file"),
    (("status", "--storage", "missing.db"), 2, "no file"),
    (("export", "--storage", "missing.db"), 2, "no file"),
    (("keys", "show", "--storage", "missing.db"), 2, "no file"),
    (("recruit", "status", "--storage", "missing.db"), 2, "no file"),
    (("list", "--storage", "photos.csv"), 3, "cannot tell what storage"),
    ((*SELECT, "--storage", "/nowhere/at/all.db"), 3, "no folder"),
    (("plot", "-o", "photos.txt"), 2, ".png, .svg or .pdf"),
    (("dance",), 2, "dance"),
    (("replay", "--storage", "study.jsonl"), 3, "cannot be opened or replayed by itself: give the database"),
]


@pytest.mark.parametrize(
    ("arguments", "code", "message"), WRONG, ids=lambda x: " ".join(x) if isinstance(x, tuple) else ""
)
def test_a_wrong_command_says_so_and_its_exit_code_can_be_relied_on(
    handful: Handful, arguments: tuple[str, ...], code: int, message: str
) -> None:
    said = handful(*arguments)
    assert said.code == code
    assert message in said.err
    assert "Traceback" not in said.err


def test_waiting_for_the_compiler_is_said(handful: Handful, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        handful("list")
    logging.getLogger(COMPILING).info("compiling")
    assert capsys.readouterr().err == "handful: compiling\n"


def test_an_explorer_may_be_given_with_options_and_the_help_names_all(handful: Handful) -> None:
    chosen = ("select", "photos.csv", "-k", "2", "--objective", "coverage", "--noise", "0.1", "--epsilon", "0.5")
    assert handful(*chosen, "--explorer", "certified:rule=chain").code == 0
    other = handful(*chosen, "--explorer", "certified:rule=plain")
    assert other.code == 2
    assert "explorer: certified:rule=chain there, certified:rule=plain here" in other.err
    wrong = handful(*chosen, "--explorer", "certified:chain")
    assert wrong.code == 2
    assert "written as certified:option=value" in wrong.err
    offered = handful("select", "--help").out
    assert all(name in offered for name in EXPLORERS)


def test_the_help_is_quick() -> None:
    helped = (
        "import sys; from handful.cli import main; sys.argv = ['handful', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "sys.exit(f'loaded {slow}' if (slow := {'numpy', 'numba', 'fastapi', 'sqlalchemy'} & set(sys.modules)) else 0)"
    )
    subprocess.run([sys.executable, "-c", helped], check=True, stdout=subprocess.DEVNULL)
    code = (
        "import sys; from handful.cli import select, studies; "
        "assert not {'numba', 'numpy', 'sqlalchemy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


def test_the_documentation_of_the_command_line_is_what_it_says_itself() -> None:
    assert help_pages.PAGE.read_text() == help_pages.render(), "run: python -m tests.cli.help_pages"
