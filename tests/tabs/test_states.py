from __future__ import annotations

from hatbox.tabs import states


def test_every_state_says_what_becomes_of_it_with_everything_that_can_happen() -> None:
    for table, events in ((states.IDENTITY, states.IdentityTransition), (states.TAB, states.TabTransition)):
        assert set(table) == {False, True}
        for transitions in table.values():
            assert list(transitions) == list(events)


def test_only_hiding_hides() -> None:
    hiding = {states.IdentityTransition.HIDE, states.TabTransition.HIDE, states.TabTransition.IDENTITY_HIDDEN}
    for was_hidden in (False, True):
        for event, hidden in (*states.IDENTITY[was_hidden].items(), *states.TAB[was_hidden].items()):
            assert hidden == (event in hiding), event
