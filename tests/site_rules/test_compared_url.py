from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hatbox.site_rules import compared_url as module
from hatbox.site_rules.compared_url import compared_url, normalize_escapes

PIECES = st.sampled_from([*"abXY019/.?=&%:@*-_~!$()+,;#\\ é", "..", "/./", "/../", "%2e", "%41", "%zz", "example"])


@given(st.lists(PIECES, max_size=30).map("".join))
@example("..")
@example("a/.")
@example("?/../x")
@example("?")
def test_an_ordinary_url_is_read_as_any_other(text: str) -> None:
    for url in (text, f"http://{text}", f"https://a.example/{text}", f"https://a.example{text}"):
        assert compared_url(url) == module._normalized(url)


@given(st.text(max_size=40))
def test_comparing_twice_changes_nothing(text: str) -> None:
    url = compared_url(f"https://{text}")
    if url is not None:
        assert compared_url(url.text) == url
    assert normalize_escapes(normalize_escapes(text)) == normalize_escapes(text) or "%25" in text
