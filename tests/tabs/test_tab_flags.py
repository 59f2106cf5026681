from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hatbox.tabs.tab_flags import (
    DISCARDABLE,
    DISCARDED,
    HIGHLIGHTED,
    NO_GROUP,
    group_in,
    portable,
    with_flag,
    with_group,
)

groups = st.integers(1, 2**50)
flags = st.integers(0, 7)


@given(flags, groups)
def test_a_group_and_flags_do_not_disturb_each_other(value: int, group: int) -> None:
    grouped = with_group(value, group)
    assert group_in(grouped) == group
    assert with_group(grouped, NO_GROUP) == value
    for flag in (DISCARDABLE, DISCARDED, HIGHLIGHTED):
        assert group_in(with_flag(grouped, flag, on=True)) == group
        assert with_flag(grouped, flag, on=bool(grouped & flag)) == grouped


def test_profiles_of_earlier_versions_have_no_groups_and_no_discarded_tabs() -> None:
    for value in (0, 1):
        assert group_in(value) == NO_GROUP
        assert not value & (DISCARDED | HIGHLIGHTED)
        assert portable(value) == value


def test_another_profile_gets_no_group_and_no_highlight() -> None:
    assert portable(with_group(DISCARDABLE | DISCARDED | HIGHLIGHTED, 7)) == DISCARDABLE | DISCARDED
