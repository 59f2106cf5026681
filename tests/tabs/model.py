"""What tabs should do, as plainly as it can be written down: lists of tabs, and for each what the design says."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ModelTab:
    id: int
    store: str
    pinned: bool = False
    hidden: bool = False
    active_at: int = 0
    """When it was last active; tabs that never were are older than all others, the newest of them last."""


@dataclass
class Model:
    windows: dict[int, list[ModelTab]] = field(default_factory=dict)
    active: dict[int, int | None] = field(default_factory=dict)
    focus: list[int] = field(default_factory=list)
    """Windows, that which had the focus last at the end."""
    hidden: set[str] = field(default_factory=set)
    clock: int = 0

    @property
    def picture(self) -> list[str]:
        return [
            " ".join(
                "^" * tab.pinned + "-" * tab.hidden + "*" * (self.active[window] == tab.id) + str(tab.id)
                for tab in tabs
            )
            for window, tabs in sorted(self.windows.items())
        ]

    def where(self, tab_id: int) -> tuple[int, ModelTab]:
        return next((window, tab) for window, tabs in self.windows.items() for tab in tabs if tab.id == tab_id)

    def tabs(self) -> list[ModelTab]:
        return [tab for tabs in self.windows.values() for tab in tabs]

    # --------------------------------------------------------------------------------------------------- what happens

    def open_window(self, window: int) -> None:
        self.windows[window], self.active[window] = [], None
        self.focus.append(window)

    def open(self, window: int, tab_id: int, store: str, *, index: int | None, active: bool, pinned: bool) -> None:
        if store in self.hidden:
            self.show(store)
        tabs = self.windows[window]
        pins = len([tab for tab in tabs if tab.pinned])
        place = len(tabs) if index is None else index
        place = min(place, pins) if pinned else min(max(place, pins), len(tabs))
        self.clock += 1
        tabs.insert(place, ModelTab(tab_id, store, pinned, active_at=self.clock))
        if active or self.active[window] is None:
            self._activate(window, tab_id)

    def close(self, tab_ids: list[int]) -> None:
        for window in list(self.windows):
            before = self.windows[window]
            self.windows[window] = [tab for tab in before if tab.id not in tab_ids]
            if self.active[window] in tab_ids:
                self._pass_on(window, before, self.active[window])
        self._sweep()

    def activate(self, tab_id: int) -> None:
        window, tab = self.where(tab_id)
        if tab.hidden and tab.store in self.hidden:
            self.show(tab.store)
        tab.hidden = False
        self._activate(window, tab_id)

    def pin(self, tab_id: int, *, pinned: bool) -> None:
        window, tab = self.where(tab_id)
        if tab.pinned == pinned:
            return
        if pinned and tab.hidden and tab.store in self.hidden:
            self.show(tab.store)
        tab.pinned = pinned
        if pinned:
            tab.hidden = False
        others = [other for other in self.windows[window] if other.id != tab_id]
        place = len([other for other in others if other.pinned])
        self.windows[window] = [*others[:place], tab, *others[place:]]
        self._settle()

    def move(self, tab_id: int, index: int, target: int) -> None:
        """One tab; index -1 is the end."""
        window, tab = self.where(tab_id)
        if window == target and len(self.windows[window]) == 1:
            return
        others = [other for other in self.windows[target] if other.id != tab_id]
        place = len(others) if index == -1 else min(index, len(others))
        pins = len([other for other in self.windows[target] if other.pinned])
        if place > pins if tab.pinned else place < pins:
            return
        if tab.pinned:
            place = min(place, len([other for other in others if other.pinned]))
        before = self.windows[window]
        if window != target:
            self.windows[window] = [other for other in before if other.id != tab_id]
            if self.active[window] == tab_id:
                self._pass_on(window, before, tab_id)
        self.windows[target] = [*others[:place], tab, *others[place:]]
        self._sweep()
        self._settle()

    def hide_tab(self, tab_id: int) -> None:
        window, tab = self.where(tab_id)
        if not tab.pinned and self.active[window] != tab_id:
            tab.hidden = True

    def show_tab(self, tab_id: int) -> None:
        _, tab = self.where(tab_id)
        if tab.store in self.hidden:
            self.show(tab.store)
        tab.hidden = False
        self._settle()

    def hide(self, store: str) -> None:
        self.hidden.add(store)
        for window, tabs in self.windows.items():
            for tab in tabs:
                tab.hidden = tab.hidden or tab.store == store
            was = self.active[window]
            if was is not None and any(tab.id == was and tab.hidden for tab in tabs):
                self.clock += 1
                place = [tab.id for tab in tabs].index(was)
                tabs[place].active_at = self.clock
                self.active[window] = None
                for distance in range(1, len(tabs)):
                    for near in (place + distance, place - distance):
                        if self.active[window] is None and 0 <= near < len(tabs) and not tabs[near].hidden:
                            self._activate(window, tabs[near].id)

    def show(self, store: str) -> None:
        self.hidden.discard(store)
        for tab in self.tabs():
            tab.hidden = tab.hidden and tab.store != store
        self._settle()

    def remove(self, store: str) -> None:
        self.close([tab.id for tab in self.tabs() if tab.store == store])
        self.hidden.discard(store)

    # -------------------------------------------------------------------------------------------------- what follows

    def _activate(self, window: int, tab_id: int) -> None:
        if self.active[window] == tab_id:
            return
        for tab in self.windows[window]:
            if tab.id == self.active[window]:
                self.clock += 1
                tab.active_at = self.clock
        self.clock += 1
        self.where(tab_id)[1].active_at = self.clock
        self.active[window] = tab_id

    def _pass_on(self, window: int, before: list[ModelTab], gone: int | None) -> None:
        """To the next visible one on the right, else on the left."""
        self.active[window] = None
        place = [tab.id for tab in before].index(gone or 0)
        staying = {tab.id for tab in self.windows[window]}
        for tab in (*before[place + 1 :], *reversed(before[:place])):
            if tab.id in staying and not tab.hidden and self.active[window] is None:
                self._activate(window, tab.id)

    def _settle(self) -> None:
        """Where tabs are visible and none is active, the one that was active last is."""
        for window, tabs in self.windows.items():
            visible = [tab for tab in tabs if not tab.hidden]
            if visible and self.active[window] is None:
                self._activate(window, max(visible, key=lambda tab: tab.active_at).id)

    def _sweep(self) -> None:
        for window in [window for window, tabs in self.windows.items() if not tabs]:
            del self.windows[window]
            del self.active[window]
            self.focus.remove(window)
