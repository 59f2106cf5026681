from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.cli import background_engine as background
from hatbox.cli.background_engine import BackgroundEngine
from hatbox.cli.engine_choice import EngineSelection
from hatbox.cli.engine_log import log_folder
from hatbox.store.sqlite import SqliteStore
from tests.cli import engines

HTTP = EngineSelection("http")


def ended(profile: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> BackgroundEngine:
    """A process in the background that runs something else, and has ended."""
    process = BackgroundEngine(SqliteStore(profile), HTTP)
    monkeypatch.setattr(process, "_command", lambda: [sys.executable, "-c", program])
    process.start()
    engines.until(lambda: not process.is_running, "its end")
    return process


def test_what_it_could_not_do_is_told_in_its_own_words(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = 'print("noise"); print(\'{\\n  "error": {"type": "EngineError", "message": "no. do this", "x": 1}\\n}\')'
    failure = ended(profile, monkeypatch, printed).failure()
    assert (failure.kind, failure.message, failure.details) == ("EngineError", "no. do this", {"x": 1})


def test_the_last_error_counts_and_none_of_an_earlier_run(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = 'print(\'{{"error": {{"type": "EngineError", "message": "{}"}}}}\')'
    first = ended(profile, monkeypatch, "; ".join([error.format("one"), error.format("two")]))
    assert first.failure().message == "two"
    assert ended(profile, monkeypatch, "print('odd')").failure().message == "the HTTP engine has ended: odd"


@pytest.mark.parametrize("printed", ["", "{", "}", "{}", "[1]", "{\\n{\\n}", '{"event": "ready"}', "\\x00\\xff"])
def test_a_process_that_says_nothing_of_use_is_reported_all_the_same(
    profile: Path, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    process = ended(profile, monkeypatch, f"print('{printed}')")
    assert process.failure().message.startswith("the HTTP engine has ended: ")
    assert not process.is_ready


def test_an_error_that_was_reported_leaves_no_log(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended(profile, monkeypatch, 'print(\'{"error": {"type": "EngineError", "message": "no"}}\')').failure()
    assert not list(profile.parent.glob("profile.db-engine*"))
    assert not log_folder().exists()


def test_an_end_without_an_explanation_names_the_log(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = ended(profile, monkeypatch, "print('one'); print('two')").failure()
    log = Path(str(failure.details["log"]))
    assert (log.read_text(), list(failure.lines)) == ("one\ntwo\n", [f"Its log is {log}"])
    assert not (profile.parent / "profile.db-engine.log").exists()


def test_the_process_finds_this_hatbox_and_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(Path(hatbox.__file__).resolve().parents[1])
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setattr("sysconfig.get_path", lambda _: "/nowhere")
    assert background._environment()["PYTHONPATH"] == f"{folder}{os.pathsep}elsewhere"
    monkeypatch.setattr("sysconfig.get_path", lambda _: folder)
    assert background._environment()["PYTHONPATH"] == "elsewhere"


def test_it_is_asked_for_as_it_was_chosen(profile: Path) -> None:
    choice = EngineSelection("chromium", browser="/opt/my browser", headless=True, marks=False)
    command = BackgroundEngine(SqliteStore(profile), choice)._command()
    assert command[1:5] == ["-P", "-m", "hatbox", "browse"]
    assert command[-4:] == ["--engine=chromium", "--browser=/opt/my browser", "--headless", "--no-marks"]
    assert f"--profile={profile}" in command
