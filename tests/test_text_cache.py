from __future__ import annotations

from hatbox.text_cache import cache_short_texts


def test_short_texts_are_cached_and_long_ones_are_not() -> None:
    calls: list[str] = []

    @cache_short_texts(16, longest=3)
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    assert [length("abc"), length("abc"), length("abcd"), length("abcd")] == [3, 3, 4, 4]
    assert calls == ["abc", "abcd", "abcd"]
    assert length.cache_info().currsize == 1
