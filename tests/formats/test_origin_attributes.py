from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import Partition
from hatbox.formats.firefox_cookies import OriginAttributes, owner_of, suffix_of

KNOWN = [
    ("", OriginAttributes()),
    ("^userContextId=6", OriginAttributes(6)),
    ("^partitionKey=%28https%2Cexample.org%29", OriginAttributes(0, Partition("https://example.org"))),
    (
        "^userContextId=6&partitionKey=%28https%2Cexample.org%29",
        OriginAttributes(6, Partition("https://example.org")),
    ),
    ("^partitionKey=%28http%2Cexample.org%2C8080%29", OriginAttributes(0, Partition("http://example.org:8080"))),
    ("^partitionKey=%28https%2Cexample.org%2Cf%29", OriginAttributes(0, Partition("https://example.org", True))),
    ("^partitionKey=%28https%2C%5B%3A%3A1%5D%2C80%2Cf%29", OriginAttributes(0, Partition("https://[::1]:80", True))),
]


@pytest.mark.parametrize(("suffix", "owner"), KNOWN)
def test_what_firefox_writes_is_read_and_written_alike(suffix: str, owner: OriginAttributes) -> None:
    assert owner_of(suffix) == owner
    assert suffix_of(owner) == suffix


@pytest.mark.parametrize(
    "suffix",
    [
        "^privateBrowsingId=1",
        "^firstPartyDomain=example.org",
        "^userContextId=6&firstPartyDomain=example.org",
        "^userContextId=x",
        "^userContextId=²",
        "^partitionKey=example.org",
        "^partitionKey=%28https%2Cexample.org%2Cx%29",
        "^geckoViewUserContextId=1",
        "^userContextId=" + "9" * 5000,
        "^userContextId=1&userContextId=2",
        "^userContextId=1&userContextId=1",
        "^userContextId=0&userContextId=2",
        "^partitionKey=%28https%2Ca.example%29&partitionKey=%28https%2Cb.example%29",
        "userContextId=1",
    ],
)
def test_what_hatbox_does_not_have_belongs_to_nobody(suffix: str) -> None:
    assert owner_of(suffix) is None


@given(st.text())
def test_any_text_has_an_owner_or_none(text: str) -> None:
    owner_of("^" + text)
