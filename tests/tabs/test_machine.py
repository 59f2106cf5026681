"""Everything that can happen to tabs, in any order, against the model; and what always holds, after every step."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hatbox.identities import changes
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.tabs.moving import move_tabs, set_pinned
from hatbox.tabs.opening import open_tab
from hatbox.tabs.strip import row_of
from hatbox.tabs.visibility import hide_tabs, show_tabs
from hatbox.tabs.windows import focus_window
from tests.tabs.desk import Desk
from tests.tabs.model import Model

pytestmark = pytest.mark.slow

choices = st.integers(0, 1000)
indexes = st.one_of(st.just(-1), st.integers(0, 6))


class Tabs(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.desk = Desk(Path(self.folder.name) / "profile.db")
        self.model = Model()
        self.stores = [f"firefox-container-{number}" for number in (1, 2, 3, 4)]

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.desk.close()
            self.folder.cleanup()

    def tab(self, choice: int) -> int:
        ids = sorted(tab.id for tab in self.model.tabs())
        return ids[choice % len(ids)]

    def store(self, choice: int) -> str:
        return [*self.stores, DEFAULT_COOKIE_STORE_ID][choice % (len(self.stores) + 1)]

    def window(self, choice: int) -> int:
        return sorted(self.model.windows)[choice % len(self.model.windows)]

    def some_tabs(self) -> bool:
        return bool(self.model.windows)

    def some_identities(self) -> bool:
        return bool(self.stores)

    # ------------------------------------------------------------------------------------------------------- the rules

    @rule(store=choices, index=st.none() | st.integers(0, 6), active=st.booleans(), pinned=st.booleans())
    def open(self, store: int, index: int | None, active: bool, pinned: bool) -> None:
        chosen = self.store(store)
        tab = self.desk.do(open_tab, cookie_store_id=chosen, index=index, active=active, pinned=pinned)
        if not self.model.windows:
            self.model.open_window(tab.window_id)
        window = self.model.focus[-1]
        assert tab.window_id == window
        self.model.open(window, tab.id, chosen, index=index, active=active, pinned=pinned)

    @rule(store=choices)
    def open_window(self, store: int) -> None:
        chosen = self.store(store)
        window = self.desk.open_window(store=chosen)
        (tab,) = [tab for tab in self.desk.tabs() if tab.window_id == window]
        self.model.open_window(window)
        self.model.open(window, tab.id, chosen, index=None, active=True, pinned=False)

    @precondition(some_tabs)
    @rule(window=choices)
    def focus(self, window: int) -> None:
        chosen = self.window(window)
        self.desk.do(focus_window, chosen)
        self.model.focus.remove(chosen)
        self.model.focus.append(chosen)

    @precondition(some_tabs)
    @rule(tabs=st.lists(choices, min_size=1, max_size=3))
    def close(self, tabs: list[int]) -> None:
        chosen = [self.tab(tab) for tab in tabs]
        self.desk.close_tabs(*chosen)
        self.model.close(chosen)

    @precondition(some_tabs)
    @rule(tab=choices)
    def activate(self, tab: int) -> None:
        chosen = self.tab(tab)
        self.desk.activate(chosen)
        self.model.activate(chosen)

    @precondition(some_tabs)
    @rule(tab=choices, pinned=st.booleans())
    def pin(self, tab: int, pinned: bool) -> None:
        chosen = self.tab(tab)
        self.desk.do(lambda each: set_pinned(each, row_of(each, chosen), pinned=pinned))
        self.model.pin(chosen, pinned=pinned)

    @precondition(some_tabs)
    @rule(tab=choices, index=indexes)
    def move(self, tab: int, index: int) -> None:
        chosen = self.tab(tab)
        self.desk.do(move_tabs, [chosen], index)
        self.model.move(chosen, index, self.model.where(chosen)[0])

    @precondition(some_tabs)
    @rule(tab=choices, index=indexes, window=choices)
    def move_across(self, tab: int, index: int, window: int) -> None:
        chosen, target = self.tab(tab), self.window(window)
        self.desk.do(move_tabs, [chosen], index, target)
        self.model.move(chosen, index, target)

    @precondition(some_tabs)
    @rule(tab=choices)
    def hide_tab(self, tab: int) -> None:
        chosen = self.tab(tab)
        self.desk.do(hide_tabs, [chosen])
        self.model.hide_tab(chosen)

    @precondition(some_tabs)
    @rule(tab=choices)
    def show_tab(self, tab: int) -> None:
        chosen = self.tab(tab)
        self.desk.do(show_tabs, [chosen])
        self.model.show_tab(chosen)

    @precondition(some_identities)
    @rule(store=choices, twice=st.booleans())
    def hide(self, store: int, twice: bool) -> None:
        chosen = self.stores[store % len(self.stores)]
        self.desk.hide(chosen)
        if chosen not in self.model.hidden:
            self.model.hide(chosen)
        if twice:
            _ = self.desk.heard
            self.desk.hide(chosen)
            assert self.desk.heard == []

    @precondition(some_identities)
    @rule(store=choices, twice=st.booleans())
    def show(self, store: int, twice: bool) -> None:
        chosen = self.stores[store % len(self.stores)]
        self.desk.show(chosen)
        if chosen in self.model.hidden:
            self.model.show(chosen)
        if twice:
            _ = self.desk.heard
            self.desk.show(chosen)
            assert self.desk.heard == []

    @precondition(some_identities)
    @rule(store=choices)
    def remove(self, store: int) -> None:
        chosen = self.stores.pop(store % len(self.stores))
        self.desk.remove(chosen)
        self.model.remove(chosen)

    @rule()
    def create(self) -> None:
        created = self.desk.do(changes.create, "New", "red", "pet")
        self.stores.append(created.cookie_store_id)

    @rule()
    def restart(self) -> None:
        self.desk.restart()

    # -------------------------------------------------------------------------------------------- what holds each time

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        if hasattr(self, "desk"):
            assert self.desk.picture == self.model.picture
            assert {store for store in self.stores if self.desk.is_hidden(store)} == self.model.hidden

    @invariant()
    def what_always_holds(self) -> None:
        if hasattr(self, "desk"):
            self.desk.check()


TestTabs = Tabs.TestCase
TestTabs.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
