"""The identities service: against a model, in two processes, and example by example (identities.py, events.py)."""

from __future__ import annotations

import asyncio
import enum
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import hatbox
from tests.examples import examples
from tests.marks import starts
from tests.postgres import address_of
from tests.store.in_loop import in_loop
from tests.store.model import COLORS, ICONS, Identity, Model, Refusal, identity_id
from tests.store.other_process import OtherProcess, Refused
from tests.store.sealing import edited
from tests.waiting import until

EVENTS = ("created", "updated", "removed", "moved", "hidden", "shown")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


def plain(identity: hatbox.ContextualIdentity) -> Identity:
    return Identity(identity.name, identity.icon, identity.color, identity.cookie_store_id, identity.hidden)


async def names(profile: hatbox.Profile) -> list[str]:
    return [identity.name for identity in await profile.identities.query()]


# ------------------------------------------------------------------------------------------------- against the model

Call = tuple[str, list[Any], dict[str, Any]]


class Nth(int):
    """Stands for the id of an identity that is there when the call is made: the nth in the list."""


def calls(
    ids: st.SearchStrategy[Any],
    names: st.SearchStrategy[str],
    colors: st.SearchStrategy[str],
    icons: st.SearchStrategy[str],
) -> st.SearchStrategy[Call]:
    details = {"name": names, "color": colors, "icon": icons}
    none: st.SearchStrategy[dict[str, Any]] = st.just({})
    return st.one_of(
        st.tuples(
            st.just("create"), st.tuples(names).map(list), st.fixed_dictionaries({"color": colors, "icon": icons})
        ),
        st.tuples(st.just("update"), st.tuples(ids).map(list), st.fixed_dictionaries({}, optional=details)),
        *(st.tuples(st.just(name), st.tuples(ids).map(list), none) for name in ("remove", "hide", "show", "get")),
        st.tuples(st.just("move"), st.tuples(st.lists(ids, max_size=3), st.integers(-1, 3)).map(list), none),
        st.tuples(st.just("query"), st.tuples(names).map(list), none),
    )


NAMES = st.one_of(
    st.sampled_from(["Work", "work", "Play", "firefox-container-1", "caf\u00e9", "cafe\u0301", "zero\0", " blanks "]),
    st.text(min_size=1, max_size=20).filter(lambda name: any(sign.isalnum() for sign in name)),
)
GOOD_CALLS = calls(st.integers(0, 12).map(Nth), NAMES, st.sampled_from(COLORS), st.sampled_from(ICONS))
# Numbers that were identities once, or never; things that are no ids; and all the rest that can be wrong.
STRANGE_CALLS = calls(
    st.sampled_from(
        [*map(identity_id, range(14)), "", "firefox-default", "firefox-container-01", "firefox-container-1 "]
    ),
    st.one_of(NAMES, st.sampled_from(["", " ", "\t\n", "\u3000"])),
    st.sampled_from(["red", "", "mauve", "Red"]),
    st.sampled_from(["pet", "", "hat"]),
)
CALLS = st.integers(0, 3).flatmap(lambda number: STRANGE_CALLS if number == 3 else GOOD_CALLS)


class ServiceMachine(RuleBasedStateMachine):
    """A profile that this process and another one use, through both faces, next to its model."""

    other: OtherProcess

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model = Model()
        self.other.call("open", address_of(self.folder / "profile.db"))
        self.loop = asyncio.new_event_loop()
        self.heard: list[tuple[str, Identity]] = []
        self.heard_by_script: list[tuple[str, str]] = []
        self.open()

    def run(self, awaitable: Awaitable[Any]) -> Any:
        async def story() -> Any:
            return await asyncio.wait_for(awaitable, 60)

        return self.loop.run_until_complete(story())

    def open(self) -> None:
        async def story() -> None:
            self.profile = await hatbox.open(self.folder / "profile.db")
            self.script: Any = self.profile.browser(["contextualIdentities"]).contextualIdentities
            for event in EVENTS:
                getattr(self.profile.identities, f"on_{event}").add_listener(self.listener(event))
            for event in EVENTS[:3]:
                getattr(self.script, f"on{event.title()}").addListener(self.script_listener(event))

        self.run(story())

    def listener(self, event: str) -> Callable[[hatbox.ContextualIdentity], None]:
        return lambda identity: self.heard.append((event, plain(identity)))

    def script_listener(self, event: str) -> Callable[[dict[str, Any]], None]:
        return lambda info: self.heard_by_script.append((event, info["contextualIdentity"]["cookieStoreId"]))

    def meant(self, call: Call) -> Call:
        """The call with the ids of identities that are there now."""
        name, arguments, named = call
        order = self.model.order or ["firefox-container-1"]

        def id_of(value: Any) -> Any:
            if isinstance(value, list):
                return list(dict.fromkeys(map(id_of, value))) if value and isinstance(value[0], Nth) else value
            return order[value % len(order)] if isinstance(value, Nth) else value

        return name, [id_of(argument) for argument in arguments], named

    @rule(call=CALLS)
    def call_in_python(self, call: Call) -> None:
        call = self.meant(call)
        self.expect([call], [self.run(attempt(lambda: self.in_python(call)))])
        self.events_are_right()

    @rule(call=CALLS)
    def call_as_a_script(self, call: Call) -> None:
        call = self.meant(call)
        self.expect([call], [self.run(attempt(lambda: self.as_script(call)))])
        self.events_are_right()

    @rule(calls=st.lists(CALLS, min_size=2, max_size=6))
    def calls_at_once(self, calls: list[Call]) -> None:
        calls = [self.meant(call) for call in calls]

        async def story() -> list[Any]:
            begun = [self.as_script(call) if index % 2 else self.in_python(call) for index, call in enumerate(calls)]
            return [await attempt(lambda: answer) for answer in begun]  # noqa: B023 - awaited at once

        self.expect(calls, self.run(story()))
        self.events_are_right()

    @rule(theirs=CALLS, ours=CALLS)
    def call_in_the_other_process_and_here(self, theirs: Call, ours: Call) -> None:
        theirs = self.meant(theirs)
        self.expect([theirs], [self.elsewhere(theirs)])
        ours = self.meant(ours)
        self.expect([ours], [self.run(attempt(lambda: self.in_python(ours)))])

    @rule()
    def close_and_open(self) -> None:
        self.wait_for_events()
        self.run(self.profile.close())
        self.open()

    @rule(call=CALLS)
    def call_and_close_without_waiting(self, call: Call) -> None:
        call = self.meant(call)

        async def story() -> Any:
            answer = self.in_python(call)
            await self.profile.close()
            assert answer.done()
            return await attempt(lambda: answer)

        self.wait_for_events()
        self.expect([call], [self.run(story())])
        self.events_are_right()
        self.open()

    @invariant()
    def all_is_as_in_the_model(self) -> None:
        self.wait_for_events()
        self.events_are_right()
        assert [plain(identity) for identity in self.run(self.profile.identities.query())] == self.model.listed()
        assert [one["cookieStoreId"] for one in self.other.identities("query")] == self.model.order

    def in_python(self, call: Call) -> asyncio.Future[Any]:
        name, arguments, named = call
        future: asyncio.Future[Any] = getattr(self.profile.identities, name)(*arguments, **named)
        return future

    def as_script(self, call: Call) -> Any:
        match call:
            case "create", [name], details:
                return self.script.create({"name": name, **details})
            case "update", [id_], details:
                return self.script.update(id_, details)
            case "query", [name], _:
                return self.script.query({"name": name})
            case name, arguments, _:
                return getattr(self.script, name)(*arguments)

    def elsewhere(self, call: Call) -> Any:
        name, arguments, named = call
        try:
            return self.other.identities(name, *arguments, **named)
        except Refused as refusal:
            return Refusal("InvalidIdentity" if refusal.kind == "IdentityNotFound" else refusal.kind)

    def expect(self, calls: list[Call], answers: list[Any]) -> None:
        """Make the calls on the model too, and compare the answers, whichever face gave them."""
        for (name, arguments, named), answer in zip(calls, answers, strict=True):
            try:
                expected = self.model(name, *arguments, **named)
            except Refusal as refusal:
                assert isinstance(answer, Refusal), (refusal, answer)
                assert answer.kind == refusal.kind
            else:
                assert essence(answer) == essence(expected)

    def wait_for_events(self) -> None:
        self.run(until(lambda: len(self.heard) >= len(self.model.events)))

    def events_are_right(self) -> None:
        assert self.heard == self.model.events
        for_scripts = [(event, identity.id) for event, identity in self.model.events if event in EVENTS[:3]]
        assert self.heard_by_script == for_scripts

    def teardown(self) -> None:
        self.run(self.profile.close())
        self.loop.close()
        self.other.call("close")
        shutil.rmtree(self.folder)


async def attempt(begin: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await begin()
    except hatbox.IdentityNotFound:  # Python programs may pass names; a text that is no id counts as one
        return Refusal("InvalidIdentity")
    except hatbox.HatboxError as error:
        return Refusal(type(error).__name__)


def essence(answer: Any) -> Any:
    """What all faces tell of an identity."""
    if isinstance(answer, list):
        return [essence(one) for one in answer]
    if isinstance(answer, hatbox.ContextualIdentity):
        return plain(answer)[:4]
    if isinstance(answer, dict):
        return answer["name"], answer["icon"], answer["color"], answer["cookieStoreId"]
    return answer[:4] if isinstance(answer, Identity) else answer


@pytest.fixture
@starts("process")
def other_process() -> Iterator[OtherProcess]:
    with OtherProcess() as process:
        yield process


def test_the_service_does_what_a_dictionary_would_do(other_process: OtherProcess) -> None:
    class Machine(ServiceMachine):
        other = other_process

    run_state_machine_as_test(
        Machine,
        settings=settings(deadline=None, max_examples=examples(80), stateful_step_count=25),
    )


# -------------------------------------------------------------------------------------------------------------- calls


@in_loop
async def test_an_identity_knows_its_fields_and_how_it_is_drawn(path: Path) -> None:
    async with hatbox.open(path) as profile:
        identity = await profile.identities.create("Play", color="turquoise", icon="pet")  # type: ignore[arg-type]
        assert plain(identity) == Identity("Play", "pet", "cyan", "firefox-container-6", hidden=False)
        assert identity.color_code == "#00c79a"
        assert identity.icon_url == "resource://usercontext-content/pet.svg"
        assert await profile.identities.get(identity) == await profile.identities.get(identity.cookie_store_id)


@in_loop
async def test_what_a_call_is_given_must_be_text(path: Path) -> None:
    async with hatbox.open(path) as profile:
        identities: Any = profile.identities
        wrong: list[Callable[[], Awaitable[Any]]] = [
            lambda: identities.get(1),
            lambda: identities.get(None),
            lambda: identities.query(1),
            lambda: identities.find(1),
            lambda: identities.find(None),
            lambda: identities.create(1, color="red", icon="pet"),
            lambda: identities.create(None, color="red", icon="pet"),
            lambda: identities.create("a", color=None, icon="pet"),
            lambda: identities.create("a", color="red", icon=None),
            lambda: identities.create("a", color="red", icon=b"pet"),
            lambda: identities.update(1, name="a"),
            lambda: identities.update("firefox-container-1", name=1),
            lambda: identities.update("firefox-container-1", color=("red",)),
            lambda: identities.remove(None),
            lambda: identities.hide(1),
            lambda: identities.show({}),
            lambda: identities.move([1], 0),
            lambda: identities.move(1, 0),
            lambda: identities.move("firefox-container-1", "0"),
            lambda: identities.move("firefox-container-1", None),
            lambda: identities.move("firefox-container-1", 1.5),
        ]
        for number, call in enumerate(wrong):
            with pytest.raises(TypeError):
                pytest.fail(f"number {number} gave {await call()}")
        assert await names(profile) == ["Personal", "Work", "Banking", "Shopping"]


@pytest.mark.parametrize("name", ["", " ", "\t\r\n", "\ufeff", "\u00a0\u3000", "\u2028"])
@in_loop
async def test_a_blank_name_is_refused(path: Path, name: str) -> None:
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.InvalidName, match="it is blank"):
            await profile.identities.create(name, color="red", icon="pet")
        with pytest.raises(hatbox.InvalidName, match="it is blank"):
            await profile.identities.update("firefox-container-1", name=name)
        assert (await profile.identities.create("a", color="red", icon="pet")).cookie_store_id == "firefox-container-6"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        *((name, name) for name in ("\0", "a\0b", "\0" * 3, "  a  ", "\x1c", "\x85", "\u200b", "'\"\\%_", "a\r\nb")),
        *((name, name) for name in ("\U0001f3a9", "\u0301", "caf\u00e9", "cafe\u0301", "\ufffe\uffff")),
        ("lone \ud800", "lone \ufffd"),
        ("\udc00\ud83d", "\ufffd\ufffd"),
        ("pair \ud83c\udfa9", "pair \U0001f3a9"),
    ],
    ids=ascii,
)
@in_loop
async def test_a_name_is_kept_exactly(path: Path, name: str, kept: str) -> None:
    heard: list[str] = []
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.name))
        other.identities.on_created.add_listener(lambda identity: heard.append(identity.name))
        assert (await profile.identities.create(name, color="red", icon="pet")).name == kept
        assert [identity.name for identity in await profile.identities.query(name)] == [kept]
        assert (await profile.identities.find(name)).name == kept
        await until(lambda: len(heard) == 2)
    assert heard == [kept, kept]
    async with hatbox.open(path) as profile:
        assert (await names(profile))[-1] == kept


@in_loop
async def test_names_are_compared_exactly(path: Path) -> None:
    async with hatbox.open(path) as profile:
        for name in ("work", "Work ", "caf\u00e9", "cafe\u0301", "a\0", "a", "a\0b"):
            await profile.identities.create(name, color="red", icon="pet")
        for name in ("Work", "work", "Work ", "caf\u00e9", "cafe\u0301", "a\0", "a", "a\0b"):
            assert [identity.name for identity in await profile.identities.query(name)] == [name]
        assert await profile.identities.query("WORK") == []
        assert len(await profile.identities.query("")) == len(await profile.identities.query(None)) == 11


@pytest.mark.slow
@in_loop
async def test_a_name_of_ten_megabytes_is_a_name(path: Path) -> None:
    name = "\U0001f3a9" * 2_500_000
    heard: list[int] = []
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        other.identities.on_created.add_listener(lambda identity: heard.append(len(identity.name)))
        identity = await profile.identities.create(name, color="red", icon="pet")
        assert (await other.identities.get(identity)).name == name
        assert await other.identities.query(name) == [identity]
        with pytest.raises(hatbox.IdentityNotFound):
            await asyncio.wait_for(other.identities.find("Wrok"), 5)
        await until(lambda: heard == [2_500_000])


@in_loop
async def test_the_last_number_that_a_browser_can_hold_is_the_last_that_is_given_out(path: Path) -> None:
    async with hatbox.open(path) as profile:
        with edited(path) as connection:
            connection.execute(f"UPDATE head SET identities = {2**32 - 3}")
        last = await profile.identities.create("last", color="red", icon="pet")
        assert last.cookie_store_id == f"firefox-container-{2**32 - 2}"
        assert await profile.identities.get(last) == last
        for _ in range(2):
            with pytest.raises(hatbox.IdsExhausted):
                await profile.identities.create("one too many", color="red", icon="pet")
        assert (await names(profile))[4:] == ["last"]
        await profile.identities.remove(last)


@in_loop
async def test_removing_gives_the_identity_as_it_was(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.hide("firefox-container-2")
        before = await profile.identities.get("firefox-container-2")
        assert before.hidden
        assert await profile.identities.remove(before) == before
        with pytest.raises(hatbox.InvalidIdentity, match="Invalid contextual identity: firefox-container-2"):
            await profile.identities.get(before)


# --------------------------------------------------------------------------------------------------------------- find


@in_loop
async def test_find_takes_a_name_or_an_id(path: Path) -> None:
    async with hatbox.open(path) as profile:
        work = await profile.identities.get("firefox-container-2")
        assert await profile.identities.find("Work") == work
        assert await profile.identities.find("firefox-container-2") == work


@in_loop
async def test_find_says_which_when_several_have_the_name(path: Path) -> None:
    async with hatbox.open(path) as profile:
        other = await profile.identities.create("Work", color="red", icon="pet")
        await profile.identities.move(other, 0)
        with pytest.raises(hatbox.AmbiguousIdentity) as refusal:
            await profile.identities.find("Work")
        assert refusal.value.candidates == (other.cookie_store_id, "firefox-container-2")
        assert str(refusal.value) == (
            '2 identities are named "Work": firefox-container-6, firefox-container-2. Pass the cookieStoreId instead.'
        )
        assert await profile.identities.find(other.cookie_store_id) == other


@in_loop
async def test_find_says_so_when_a_name_is_another_ones_id(path: Path) -> None:
    async with hatbox.open(path) as profile:
        confusing = await profile.identities.create("firefox-container-2", color="red", icon="pet")
        with pytest.raises(hatbox.AmbiguousIdentity) as refusal:
            await profile.identities.find("firefox-container-2")
        assert set(refusal.value.candidates) == {"firefox-container-2", confusing.cookie_store_id}
        own = await profile.identities.create("firefox-container-7", color="red", icon="pet")
        assert await profile.identities.find("firefox-container-7") == own  # its name is its own id: one identity
        gone = await profile.identities.create("firefox-container-99", color="red", icon="pet")
        assert await profile.identities.find("firefox-container-99") == gone


@pytest.mark.parametrize(
    ("asked", "nearest"), [("Wrok", ("Work",)), ("work", ("Work",)), ("BANKNIG", ("Banking",)), ("zzz", ()), ("", ())]
)
@in_loop
async def test_find_offers_the_nearest_names(path: Path, asked: str, nearest: tuple[str, ...]) -> None:
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.IdentityNotFound) as refusal:
            await profile.identities.find(asked)
        assert refusal.value.nearest == nearest
        hint = f' Did you mean "{nearest[0]}"?' if nearest else ""
        assert str(refusal.value) == f'identity not found: "{asked}".{hint} List identities with: hatbox list'


# ------------------------------------------------------------------------------------------------------------- events


@in_loop
async def test_every_event_tells_of_its_own_kind_of_change(path: Path) -> None:
    heard: list[tuple[str, str, bool]] = []

    def listen(event: str) -> Callable[[hatbox.ContextualIdentity], None]:
        return lambda identity: heard.append((event, identity.name, identity.hidden))

    async with hatbox.open(path) as profile:
        for event in EVENTS:
            getattr(profile.identities, f"on_{event}").add_listener(listen(event))
        made = await profile.identities.create("a", color="red", icon="pet")
        await profile.identities.update(made)  # nothing is set, and it is told all the same, as in Firefox
        await profile.identities.update(made, name="b")
        await profile.identities.hide(made)
        await profile.identities.hide(made)
        await profile.identities.move(made, 0)
        await profile.identities.show(made)
        await profile.identities.show(made)
        await profile.identities.remove(made)
    assert heard == [
        ("created", "a", False),
        ("updated", "a", False),
        ("updated", "b", False),
        ("hidden", "b", True),
        ("moved", "b", True),
        ("shown", "b", False),
        ("removed", "b", False),
    ]


@in_loop
async def test_a_listener_hears_of_calls_made_after_it_was_added_only(path: Path) -> None:
    heard: list[str] = []
    async with hatbox.open(path) as profile:
        early = profile.identities.create("early", color="red", icon="pet")
        profile.identities.on_created.add_listener(lambda identity: heard.append(f"one {identity.name}"))
        middle = profile.identities.create("middle", color="red", icon="pet")
        profile.identities.on_created.add_listener(lambda identity: heard.append(f"two {identity.name}"))
        late = profile.identities.create("late", color="red", icon="pet")
        await asyncio.gather(early, middle, late)
        async with hatbox.open(path) as other:
            await other.identities.create("fence", color="red", icon="pet")
        await profile.store.deliver_pending_changes()
    assert heard == ["one middle", "one late", "two late", "one fence", "two fence"]


@in_loop
async def test_listeners_run_in_the_order_of_registration_and_once(path: Path) -> None:
    heard: list[int] = []
    listeners: list[Callable[[Any], None]] = [lambda _, n=n: heard.append(n) for n in range(5)]  # type: ignore[misc]
    async with hatbox.open(path) as profile:
        event = profile.identities.on_updated
        for listener in (*listeners, listeners[0]):
            event.add_listener(listener)
        await profile.identities.update("firefox-container-1", name="a")
        assert heard == [0, 1, 2, 3, 4]
        event.remove_listener(listeners[2])
        event.remove_listener(listeners[2])
        assert event.has_listener(listeners[1])
        assert not event.has_listener(listeners[2])
        await profile.identities.update("firefox-container-1", name="b")
    assert heard == [0, 1, 2, 3, 4, 0, 1, 3, 4]


@in_loop
async def test_an_async_listener_runs_and_may_make_calls(path: Path) -> None:
    done = asyncio.Event()

    async with hatbox.open(path) as profile:

        async def listener(identity: hatbox.ContextualIdentity) -> None:
            await profile.identities.update(identity, name=f"{identity.name}!")
            done.set()

        profile.identities.on_created.add_listener(listener)
        made = await profile.identities.create("a", color="red", icon="pet")
        await asyncio.wait_for(done.wait(), 10)
        assert (await profile.identities.get(made)).name == "a!"


@in_loop
async def test_a_listener_that_raises_is_logged_and_stops_nobody(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    def broken(_: Any) -> None:
        raise ValueError("the listener's own fault")

    async def broken_later(_: Any) -> None:
        raise ValueError("also its own fault")

    async with hatbox.open(path) as profile:
        for listener in (broken, broken_later, lambda identity: heard.append(identity.name)):
            profile.identities.on_created.add_listener(listener)
        with caplog.at_level(logging.ERROR):
            for name in "ab":
                await profile.identities.create(name, color="red", icon="pet")
            await until(lambda: len(caplog.records) == 4)
    assert heard == ["a", "b"]
    assert all("a listener of identities.on_created raised" in record.message for record in caplog.records)
    faults = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert sorted(faults) == ["also its own fault"] * 2 + ["the listener's own fault"] * 2


@in_loop
async def test_a_listener_may_be_removed_after_the_profile_was_closed(path: Path) -> None:
    heard: list[Any] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(heard.append)
    profile.identities.on_created.remove_listener(heard.append)
    assert not profile.identities.on_created.has_listener(heard.append)


@in_loop
async def test_a_listener_may_be_added_before_the_profile_is_opened(path: Path) -> None:
    heard: list[Any] = []
    profile = hatbox.open(path)
    profile.identities.on_created.add_listener(heard.append)
    async with profile:
        made = await profile.identities.create("a", color="red", icon="pet")
    assert heard == [made]


@in_loop
async def test_listeners_still_hear_after_the_profile_was_closed_and_opened_again(path: Path) -> None:
    heard: list[str] = []
    profile = hatbox.open(path)
    async with profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.name))
        await profile.identities.create("a", color="red", icon="pet")
    async with profile:
        await profile.identities.create("b", color="red", icon="pet")
    assert heard == ["a", "b"]


LISTENER_THAT_ENDS_THE_PROGRAM = """
import asyncio, sys, hatbox

async def main():
    async with hatbox.open(sys.argv[1]) as profile:
        profile.identities.on_created.add_listener(lambda _: sys.exit(7))
        await asyncio.gather(*(profile.identities.create(name, color="red", icon="pet") for name in "abcdef"))

asyncio.run(main())
"""


@pytest.mark.process
def test_a_listener_may_end_the_program_while_calls_are_under_way(path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LISTENER_THAT_ENDS_THE_PROGRAM, str(path)], check=False, timeout=20, capture_output=True
    )
    assert ended.returncode == 7


class Loud(str):
    def __str__(self) -> str:
        return self.upper()


class Paint(enum.StrEnum):
    RED = "red"


@in_loop
async def test_a_subclass_of_str_is_kept_as_the_plain_text_that_it_is(path: Path) -> None:
    async with hatbox.open(path) as profile:
        made = await profile.identities.create(Loud("quiet"), color=Paint.RED, icon="pet")  # type: ignore[arg-type]
        assert [type(each) for each in (made.name, made.color)] == [str, str]
        assert (made.name, made.color) == ("quiet", "red")
        assert await profile.identities.query(Loud("quiet")) == [made]


@pytest.mark.parametrize("position", [1.5, "1", None, True])
@in_loop
async def test_a_position_that_is_no_integer_is_refused_at_once(path: Path, position: Any) -> None:
    async with hatbox.open(path) as profile:
        with pytest.raises(TypeError, match="position must be an integer"):
            profile.identities.move("firefox-container-1", position)
