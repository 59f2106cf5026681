"""The synchronous face: the same calls without an event loop, from any thread (sync.py)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookies import Cookie
from hatbox.formats import Bundle, BundleEntry
from tests.waiting import block_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


def threads_of_hatbox() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("hatbox")]


def assert_no_thread_is_left() -> None:
    block_until(lambda: not threads_of_hatbox(), "the end of all threads")


def test_every_call_returns_when_it_is_done(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        identities = profile.identities
        made = identities.create("a", color="red", icon="pet")
        assert identities.get(made) == made
        assert identities.query("a") == [made]
        assert identities.find("a") == made
        assert identities.resolve("a") == identities.resolve(made) == made
        assert identities.update(made, name="b", icon="tree").name == "b"
        identities.hide(made)
        assert identities.get(made).hidden
        identities.show(made)
        assert not identities.get(made).hidden
        identities.move([made, "firefox-container-3"], 0)
        assert [identity.name for identity in identities.query()] == ["Banking", "b", "Personal", "Work", "Shopping"]
        assert identities.remove(made).name == "b"
        with pytest.raises(hatbox.InvalidIdentity):
            identities.get(made)
        with pytest.raises(TypeError):
            identities.get(1)  # type: ignore[arg-type]
    assert profile.address == str(path)
    assert str(path) in repr(profile)
    assert_no_thread_is_left()
    with hatbox.open_sync(path) as profile:
        assert [identity.name for identity in profile.identities.query()] == ["Banking", "Personal", "Work", "Shopping"]


def test_what_one_profile_exports_another_imports_and_the_second_time_nothing_more(path: Path, tmp_path: Path) -> None:
    cookie = Cookie(name="sid", value="1", domain="site.example", created=1.0, sequence=1)
    done: list[int] = []
    with hatbox.open_sync(path) as profile, hatbox.open_sync(tmp_path / "other.db") as other:
        report = profile.import_bundle(Bundle([BundleEntry(None, [cookie])]), "Work", done.append)
        assert (report.cookies_new, done) == (1, [1])
        bundle = profile.export_bundle(["Work", "firefox-container-3"])
        assert [each.label and each.label.name for each in bundle.entries] == ["Work", "Banking"]
        assert other.import_bundle(bundle).cookies_new == 1
        assert other.import_bundle(profile.export_bundle()).cookies_unchanged == 1
        assert [each.cookies for each in other.export_bundle().entries] == [[], [cookie], [], []]
        with pytest.raises(hatbox.IdentityNotFound):
            other.import_bundle(bundle, into="Wrok")


def test_every_call_of_tabs_returns_when_it_is_done(path: Path) -> None:
    heard: list[tuple[str, str]] = []
    with hatbox.open_sync(path) as profile:
        tabs = profile.tabs
        tabs.on_created.add_listener(lambda tab: heard.append((tab.pending_url, threading.current_thread().name)))
        first = tabs.open("Work", "https://a.example/")
        second = tabs.open("firefox-default", active=False)
        assert heard == [("https://a.example/", "hatbox-loop"), ("", "hatbox-loop")]
        assert tabs.get(first.id).active
        assert [tab.id for tab in tabs.query()] == [first.id, second.id]
        assert [tab.id for tab in tabs.query("Work")] == [first.id]
        assert [window.id for window in tabs.windows()] == [first.window_id]
        assert tabs.navigate(first.id, "https://b.example/").pending_url == "https://b.example/"
        assert tabs.reload(first.id).navigation_id == 3
        tabs.activate(second.id)
        assert tabs.get(second.id).active
        assert [tab.id for tab in tabs.move(second.id, 0)] == [second.id]
        tabs.close([first.id])
        with pytest.raises(hatbox.InvalidTab):
            tabs.get(first.id)
    with hatbox.open_sync(path) as profile:
        assert [tab.id for tab in profile.tabs.query()] == [second.id]


def test_tabs_have_the_same_verbs_and_events_with_and_without_an_event_loop(path: Path) -> None:
    def names(thing: object) -> set[str]:
        return {name for name in dir(thing) if not name.startswith("_")}

    for_engines = {"read", "write", "open_pages"}
    assert names(hatbox.open_sync(path).tabs) == names(hatbox.open(path).tabs) - for_engines


def test_eight_threads_may_use_one_profile_at_once(path: Path) -> None:
    heard: list[str] = []
    with hatbox.open_sync(path) as profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.cookie_store_id))

        def create_many(number: int) -> list[str]:
            made = []
            for count in range(50):
                identity = profile.identities.create(f"{number} {count}", color="red", icon="pet")
                assert profile.identities.get(identity) == identity
                made.append(identity.cookie_store_id)
            return made

        with ThreadPoolExecutor(8) as pool:
            made = [id_ for ids in pool.map(create_many, range(8)) for id_ in ids]
        listed = [identity.cookie_store_id for identity in profile.identities.query()][4:]
    assert len(set(made)) == 400
    assert heard == listed
    assert sorted(made) == sorted(listed)


def test_events_come_before_the_call_returns_and_in_the_profiles_own_thread(path: Path) -> None:
    heard: list[tuple[str, str]] = []

    def listen(event: str) -> Callable[[Any], None]:
        return lambda identity: heard.append((event, threading.current_thread().name))

    with hatbox.open_sync(path) as profile:
        events = ("created", "updated", "removed", "moved", "hidden", "shown")
        listeners = {event: listen(event) for event in events}
        for event, listener in listeners.items():
            getattr(profile.identities, f"on_{event}").add_listener(listener)
            assert getattr(profile.identities, f"on_{event}").has_listener(listener)
        made = profile.identities.create("a", color="red", icon="pet")
        assert [event for event, _ in heard] == ["created"]
        profile.identities.update(made, name="b")
        profile.identities.hide(made)
        profile.identities.show(made)
        profile.identities.move(made, 0)
        profile.identities.on_removed.remove_listener(listeners["removed"])
        profile.identities.remove(made)
    assert [event for event, _ in heard] == ["created", "updated", "hidden", "shown", "moved"]
    assert {thread for _, thread in heard} == {"hatbox-loop"}


def test_a_listener_that_waits_for_a_call_is_told_why_it_cannot(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    raised: list[BaseException] = []

    def listener(identity: hatbox.ContextualIdentity) -> None:
        for use in (lambda: profile.identities.get(identity), profile.close, lambda: add_listener(print)):
            try:
                use()
            except RuntimeError as error:
                raised.append(error)

    with hatbox.open_sync(path) as profile:
        add_listener = profile.identities.on_created.add_listener
        add_listener(listener)
        profile.identities.create("a", color="red", icon="pet")
    assert len(raised) == 3
    assert all("another thread" in str(error) for error in raised)


def test_a_listener_may_have_a_call_made_by_another_thread(path: Path) -> None:
    updated = threading.Event()
    with hatbox.open_sync(path) as profile, ThreadPoolExecutor(1) as pool:

        def update(identity: hatbox.ContextualIdentity) -> None:
            profile.identities.update(identity, name="b")
            updated.set()

        profile.identities.on_created.add_listener(lambda identity: pool.submit(update, identity))
        made = profile.identities.create("a", color="red", icon="pet")
        assert updated.wait(10)
        assert profile.identities.get(made).name == "b"


def test_a_profile_that_is_not_open_says_so(path: Path) -> None:
    profile = hatbox.open_sync(path)
    profile.close()  # no error, before it was open
    for _ in range(2):
        for use in (
            profile.identities.query,
            lambda: profile.identities.create("a", color="red", icon="pet"),
            lambda: profile.identities.on_created.add_listener(print),
        ):
            with pytest.raises(hatbox.ProfileClosed, match=r"it is not open.*hatbox\.open_sync\(\)"):
                use()
        with profile:
            profile.identities.query()
        profile.close()
    assert_no_thread_is_left()


def test_a_profile_that_is_already_open_says_so_and_stays_open(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        with pytest.raises(hatbox.ProfileError, match="already open"):
            profile.open()
        assert len(profile.identities.query()) == 4
    assert_no_thread_is_left()


def test_a_profile_that_cannot_be_opened_leaves_no_thread_behind(path: Path) -> None:
    path.write_text("not a profile")
    profile = hatbox.open_sync(path)
    for _ in range(3):
        with pytest.raises(hatbox.NotAProfile):
            profile.open()
    assert_no_thread_is_left()
    with pytest.raises(hatbox.ProfileClosed):
        profile.identities.query()
    path.unlink()
    with profile:
        assert len(profile.identities.query()) == 4


def test_listeners_still_hear_after_the_profile_was_closed_and_opened_again(path: Path) -> None:
    heard: list[str] = []
    profile = hatbox.open_sync(path)
    with profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.name))
        profile.identities.create("a", color="red", icon="pet")
    with profile:
        profile.identities.create("b", color="red", icon="pet")
    assert heard == ["a", "b"]


@pytest.mark.slow
def test_a_call_in_one_thread_while_another_closes_is_done_or_refused(path: Path) -> None:
    """Never waits for ever, and never does something else."""
    for _ in range(30):
        made: list[hatbox.ContextualIdentity] = []
        wrong: list[BaseException] = []
        profile = hatbox.open_sync(path).open()
        begun = threading.Barrier(5)

        def create_until_closed() -> None:
            begun.wait()  # noqa: B023 - all threads of a round end in it
            try:
                while True:
                    made.append(profile.identities.create("a", color="red", icon="pet"))  # noqa: B023
            except hatbox.ProfileClosed:
                pass
            except BaseException as error:  # noqa: BLE001 - it is what the test looks for
                wrong.append(error)  # noqa: B023

        threads = [threading.Thread(target=create_until_closed, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        profile.close()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads), "a call waits for ever"
        assert not wrong
        with hatbox.open_sync(path) as profile:
            there = {identity.cookie_store_id for identity in profile.identities.query()}
            assert {identity.cookie_store_id for identity in made} <= there


def test_a_call_that_comes_in_the_very_moment_of_closing_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call has seen that the profile is open, and reaches the loop when it has just been told to stop."""
    stopping, scheduled = threading.Event(), threading.Event()
    schedule = asyncio.run_coroutine_threadsafe
    answers: list[Any] = []

    class Loop(asyncio.SelectorEventLoop):
        def stop(self) -> None:
            stopping.set()
            scheduled.wait(1)
            super().stop()

    def schedule_late(*arguments: Any) -> Any:
        if threading.current_thread() is not caller:
            return schedule(*arguments)
        seen_open.set()
        stopping.wait(1)
        try:
            return schedule(*arguments)
        finally:
            scheduled.set()

    def call() -> None:
        try:
            answers.append(profile.identities.query())
        except BaseException as error:  # noqa: BLE001 - it is what the test looks for
            answers.append(error)

    seen_open = threading.Event()
    caller = threading.Thread(target=call, daemon=True)
    monkeypatch.setattr(asyncio, "new_event_loop", Loop)
    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", schedule_late)
    profile = hatbox.open_sync(path).open()
    caller.start()
    seen_open.wait(1)
    profile.close()
    caller.join(60)
    assert answers, "the call waits for ever"
    assert isinstance(answers[0], (list, hatbox.ProfileClosed))


AFTER_A_FORK = """
import os, sys, warnings, hatbox

warnings.simplefilter("ignore", DeprecationWarning)  # the fork of a process with threads: it is what happens to people
with hatbox.open_sync(sys.argv[1]) as profile:
    child = os.fork()
    if not child:
        try:
            profile.identities.query()
        except hatbox.ProfileClosed:
            pass
        else:
            os._exit(1)
        try:
            profile.close()  # as the end of the `with` does
        except hatbox.ProfileClosed:
            pass
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(profile.identities.query()) == 4
"""


@pytest.mark.process
def test_use_after_a_fork_is_refused_and_does_not_wait_for_ever(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", AFTER_A_FORK, str(path)], start_new_session=True) as process:
        try:
            assert process.wait(20) == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


OPEN_AFTER_A_FORK = """
import os, sys, warnings, hatbox

warnings.simplefilter("ignore", DeprecationWarning)
path = sys.argv[1]
closed, written = os.pipe(), os.pipe()
with hatbox.open_sync(path) as profile:
    profile.identities.create("of the parent", color="blue", icon="circle")
    child = os.fork()
    if not child:
        os.close(closed[1])
        try:
            with hatbox.open_sync(path) as own:
                own.identities.create("first", color="blue", icon="circle")
                os.write(written[1], b"1")
                os.read(closed[0], 1)
                own.identities.create("second", color="blue", icon="circle")
                os.write(written[1], b"2")
                os.kill(os.getpid(), 9)
        except hatbox.ProfileError as error:
            os.write(written[1], str(error).encode())
        os._exit(0)
    os.close(written[1])
    answer = os.read(written[0], 1000)
os.close(closed[1])
answer += os.read(written[0], 1000)
os.waitpid(child, 0)
with hatbox.open_sync(path) as again:
    names = {each.name for each in again.identities.query()}
assert "of the parent" in names
if answer == b"12":
    assert {"first", "second"} <= names, "an identity is lost whose creation had resolved"
else:
    assert b"was forked from one that had it open" in answer, answer
"""


@pytest.mark.process
def test_an_identity_that_a_forked_child_has_created_is_not_lost(path: Path) -> None:
    subprocess.run([sys.executable, "-c", OPEN_AFTER_A_FORK, str(path)], check=True, timeout=60)


@pytest.mark.process
def test_a_child_can_open_a_profile_that_its_parent_closed_before_the_fork(path: Path) -> None:
    script = """
import os, sys, hatbox
with hatbox.open_sync(sys.argv[1]) as profile:
    profile.identities.create("of the parent", color="blue", icon="circle")
child = os.fork()
if not child:
    with hatbox.open_sync(sys.argv[1]) as own:
        own.identities.create("of the child", color="blue", icon="circle")
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=60)
    with hatbox.open_sync(path) as profile:
        assert [each.name for each in profile.identities.query()][-2:] == ["of the parent", "of the child"]


def test_it_can_be_used_where_an_event_loop_runs(path: Path) -> None:
    async def main() -> None:
        with hatbox.open_sync(path) as profile:
            assert len(profile.identities.query()) == 4
        with pytest.raises(hatbox.NotAProfile), hatbox.open_sync(path.parent):
            pass

    asyncio.run(main())
    assert_no_thread_is_left()


def test_the_cookies_of_an_identity_are_read_and_changed_without_an_event_loop(path: Path) -> None:
    url = "https://site.example/"
    with hatbox.open_sync(path) as profile:
        changed: list[str] = []
        profile.cookies.on_changed.add_listener(lambda change: changed.append(change.cookie.name))
        work = profile.cookie_store("Work")
        work.receive(["a=1; Secure"], url)
        work.set(url, name="b", value="2")
        assert work.header(url) == "a=1; b=2"
        assert [cookie.name for cookie in work.cookies()] == ["a", "b"]
        assert profile.cookie_store("Personal").header(url) == ""
        assert changed == ["a", "b"]
    with hatbox.open_sync(path) as profile:
        work = profile.cookies.open("firefox-container-2")
        assert work.header(url) == "a=1; b=2"
        work.clear("site.example")
        assert work.cookies() == []


def test_an_identity_is_hidden_and_shown_by_its_name(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        profile.identities.hide("Work")
        assert profile.identities.get("Work").hidden
        profile.identities.show("Work")
        assert not profile.identities.get("Work").hidden
        with pytest.raises(hatbox.IdentityNotFound, match='identity not found: "Wrok"'):
            profile.identities.hide("Wrok")


def test_create_has_the_same_defaults_as_the_command_line(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        created = profile.identities.create("Travel")
    assert (created.color, created.icon) == ("blue", "circle")


def test_a_client_names_its_identity(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        with profile.httpx("Work") as client:
            assert repr(client) == "<Client bound to 'Work'>"
        assert repr(profile.requests("Work")) == "<Session bound to 'Work'>"
        assert repr(profile.urllib("Work")) == "<OpenerDirector bound to 'Work'>"
        assert repr(profile.cookie_store("Work")) == "<hatbox cookie store firefox-container-2>"
