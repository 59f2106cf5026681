from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.engines.background import detached_process
from hatbox.engines.background.background_engine import BackgroundEngine
from hatbox.engines.background.engine_log import EngineLog, log_folder
from hatbox.engines.selection import EngineSelection
from hatbox.store.sqlite import SqliteStore
from tests.waiting import block_until

HTTP = EngineSelection("http")


def ended(profile: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> BackgroundEngine:
    """A background process that runs another program, and has exited."""
    process = BackgroundEngine(str(profile), EngineLog.of(SqliteStore(profile)), HTTP)
    monkeypatch.setattr(process, "_command", lambda: [sys.executable, "-c", program])
    process.start()
    block_until(lambda: not process.is_running, "its end")
    return process


@pytest.mark.process
def test_the_error_that_it_printed_is_reported(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = '{"type": "EngineError", "message": "no. do this", "pageMessage": "click this", "x": 1}'
    printed = f"print('noise'); print('{{\\n  \"error\": {error}\\n}}')"
    failure = ended(profile, monkeypatch, printed).failure()
    assert (failure.kind, str(failure), failure.details) == ("EngineError", "no. do this", {"x": 1})
    assert failure.page_message == "click this"


@pytest.mark.process
def test_the_last_error_counts_and_none_of_an_earlier_run(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = 'print(\'{{"error": {{"type": "EngineError", "message": "{}"}}}}\')'
    first = ended(profile, monkeypatch, "; ".join([error.format("one"), error.format("two")]))
    assert str(first.failure()) == "two"
    assert str(ended(profile, monkeypatch, "print('odd')").failure()) == "the HTTP engine exited: odd"


@pytest.mark.process
@pytest.mark.parametrize("printed", ["", "{", "}", "{}", "[1]", "{\\n{\\n}", '{"event": "ready"}', "\\x00\\xff"])
def test_a_process_without_useful_output_is_reported_too(
    profile: Path, monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    process = ended(profile, monkeypatch, f"print('{printed}')")
    assert str(process.failure()).startswith("the HTTP engine exited: ")
    assert not process.is_ready


@pytest.mark.process
def test_an_error_that_was_reported_leaves_no_log(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended(profile, monkeypatch, 'print(\'{"error": {"type": "EngineError", "message": "no"}}\')').failure()
    assert not list(profile.parent.glob("profile.db-engine*"))
    assert not log_folder().exists()


@pytest.mark.process
def test_an_end_without_an_explanation_names_the_log(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = ended(profile, monkeypatch, "print('one'); print('two')").failure()
    log = Path(str(failure.details["log"]))
    assert (log.read_text(), failure.log) == ("one\ntwo\n", log)
    assert not (profile.parent / "profile.db-engine.log").exists()


def test_the_process_finds_this_hatbox_and_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(Path(hatbox.__file__).resolve().parents[1])
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setattr("sysconfig.get_path", lambda _: "/nowhere")
    assert detached_process._environment()["PYTHONPATH"] == f"{folder}{os.pathsep}elsewhere"
    monkeypatch.setattr("sysconfig.get_path", lambda _: folder)
    assert detached_process._environment()["PYTHONPATH"] == "elsewhere"


def test_it_is_started_with_the_selected_options(profile: Path) -> None:
    selection = EngineSelection("chromium", browser="/opt/my browser", headless=True, indicator=False)
    command = BackgroundEngine(str(profile), EngineLog.of(SqliteStore(profile)), selection)._command()
    assert command[1:5] == ["-P", "-m", "hatbox", "browse"]
    assert command[-4:] == ["--engine=chromium", "--browser=/opt/my browser", "--headless", "--no-indicator"]
    assert not [
        each for each in command if str(profile) in each
    ]  # other users can read arguments; it may be a URL with a password
