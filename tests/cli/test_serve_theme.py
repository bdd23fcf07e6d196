"""Without a theme, a study is about what the folder is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from handful.cli import (
    app,
    crowd,  # noqa: F401  (registers it)
)
from handful.storage import list_studies
from tests.cli.starting import end_at_once
from tests.crowd.pictures import folder_of


def serve(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["serve", "Sommer", "-k", "1", "--explorer", "topx", "--port", "0", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_without_a_theme_it_is_the_folders_name_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(3, tmp_path / "Sommer")
    monkeypatch.chdir(tmp_path)
    end_at_once(monkeypatch)
    said = serve()
    assert 'no --theme was given, so the theme is "Sommer", which people read above every question' in said
    assert [study.name for study in list_studies("Sommer.db")] == ["sommer"]
    assert "no --theme" not in serve(), "the same command goes on with it"
    serve("--theme", "Boats")
    assert "no --theme" not in serve()
    assert {study.name for study in list_studies("Sommer.db")} == {"sommer", "boats"}
