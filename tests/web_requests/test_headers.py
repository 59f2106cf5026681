from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.web_requests.headers import HeaderChanges, merge_duplicates, split_values

SENT = (("Host", "site.example"), ("Accept", "*/*"), ("Cookie", "a=1"))


def header(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def shown(*but: str) -> list[dict[str, Any]]:
    return [header(name, value) for name, value in SENT if name not in but]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        7,
        "Accept: x",
        {},
        [None],
        [[]],
        [{}],
        [{"name": "A"}],
        [{"value": "1"}],
        [{"name": 1, "value": "1"}],
        [{"name": "A", "value": 1}],
        [header("A", "1"), {"name": "B"}],
        [{"name": "A", "binaryValue": "AB"}],
    ],
)
def test_what_is_no_list_of_headers_changes_nothing(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    changes = HeaderChanges(SENT)
    changes.apply(answer, "a@b")
    assert changes.headers == SENT
    assert "a@b" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"), [("X Bad", "1"), ("", "1"), ("X:", "1"), ("X-New", "a\nb"), ("X-New", "a\0"), ("X-New", "日")]
)
def test_a_header_that_cannot_be_sent_is_left_out(name: str, value: str, caplog: pytest.LogCaptureFixture) -> None:
    changes = HeaderChanges(SENT)
    changes.apply([*shown(), header(name, value), header("X-Good", "ü")], "a@b")
    assert changes.headers == (*SENT, ("X-Good", "ü"))
    assert "invalid header" in caplog.text


def test_what_is_not_in_an_answer_goes_and_what_is_new_comes() -> None:
    changes = HeaderChanges(SENT)
    changes.apply([*shown("Cookie"), header("X-Mine", "1")], "one")
    assert changes.headers == (SENT[0], SENT[1], ("X-Mine", "1"))


def test_a_changed_value_stays_in_its_place_under_its_name() -> None:
    changes = HeaderChanges(SENT)
    changes.apply([header("host", "site.example"), header("aCCept", "text/html"), header("cookie", "a=1")], "one")
    assert changes.headers == (SENT[0], ("Accept", "text/html"), SENT[2])


def test_answers_add_up_and_the_last_word_counts() -> None:
    changes = HeaderChanges(SENT)
    changes.apply([*shown("Cookie"), header("X-A", "1"), header("X-C", "first")], "one")
    changes.apply([*shown(), header("X-B", "2"), header("X-C", "second")], "two")
    assert changes.headers == (SENT[0], SENT[1], ("X-A", "1"), ("X-C", "second"), ("X-B", "2"))


def test_a_name_that_is_given_twice_has_both_values() -> None:
    changes = HeaderChanges((("Set-Cookie", "a=1"),))
    changes.apply([header("X", "1"), header("x", "2"), header("Set-Cookie", "a=1"), header("set-cookie", "b=2")], "one")
    assert changes.headers == (("Set-Cookie", "a=1\nb=2"), ("X", "1, 2"))
    assert split_values("Set-Cookie", "a=1\nb=2") == ["a=1", "b=2"]
    assert split_values("X", "1, 2") == ["1, 2"]


def test_an_empty_value_removes_and_bytes_are_a_value() -> None:
    changes = HeaderChanges(SENT)
    changes.apply([*shown("Accept"), header("Accept", ""), {"name": "X", "binaryValue": [65, 0xE4]}], "one")
    assert changes.headers == (SENT[0], SENT[2], ("X", "Aä"))


def test_a_request_says_that_it_is_for_another_host_only_with_permission() -> None:
    changes = HeaderChanges(SENT)
    for host in ("other.example", "allowed.example"):
        changes.apply([*shown("Host"), header("Host", host)], "one", lambda name: name == "allowed.example")
    assert dict(changes.headers)["Host"] == "allowed.example"


@given(st.lists(st.tuples(st.sampled_from(["A", "a", "Set-Cookie", "B"]), st.text("xyz", min_size=1))))
def test_an_answer_that_changes_nothing_changes_nothing(pairs: list[tuple[str, str]]) -> None:
    headers = merge_duplicates(pairs)
    assert len({name.lower() for name, _ in headers}) == len(headers)
    changes = HeaderChanges(headers)
    changes.apply([header(name, value) for name, value in headers], "one")
    assert changes.headers == headers


@pytest.mark.slow
def test_no_number_of_headers_freezes_the_host() -> None:
    changes = HeaderChanges((("A", "x"),))
    changes.apply([header("a", "y" * 10)] * 400_000, "an extension")
    assert len(changes.headers[0][1]) == 400_000 * 12 - 2
    assert len(merge_duplicates([("a", "y" * 10)] * 400_000)[0][1]) == 400_000 * 12 - 2
