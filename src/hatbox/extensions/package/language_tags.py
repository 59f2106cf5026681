"""Language negotiation: finds the available BCP 47 language tag that is closest to the user's languages. Pure text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

__all__ = ["closest", "is_right_to_left", "variations"]

# Unicode's likely subtags: default script and region of a language. Only languages for which extensions have
# several folders.
_LIKELY: Final = {
    "ar": ("Arab", "EG"),
    "az": ("Latn", "AZ"),
    "bs": ("Latn", "BA"),
    "de": ("Latn", "DE"),
    "en": ("Latn", "US"),
    "es": ("Latn", "ES"),
    "fa": ("Arab", "IR"),
    "fr": ("Latn", "FR"),
    "hi": ("Deva", "IN"),
    "it": ("Latn", "IT"),
    "nb": ("Latn", "NO"),
    "nl": ("Latn", "NL"),
    "nn": ("Latn", "NO"),
    "pa": ("Guru", "IN"),
    "pt": ("Latn", "BR"),
    "sr": ("Cyrl", "RS"),
    "sv": ("Latn", "SE"),
    "uz": ("Latn", "UZ"),
    "zh": ("Hans", "CN"),
}
_LIKELY_SCRIPT: Final = {("zh", "TW"): "Hant", ("zh", "HK"): "Hant", ("zh", "MO"): "Hant", ("pa", "PK"): "Arab"}
_RIGHT_TO_LEFT: Final = frozenset({"ar", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"})
_TAG: Final = re.compile(
    r"([a-z]{2,3})(?:-([A-Z][a-z]{3}))?(?:-([A-Z]{2}|[0-9]{3}))?((?:-[A-Za-z0-9]{3,8})*)", re.ASCII
)


class _Tag(NamedTuple):
    language: str
    script: str
    region: str
    variant: str


def closest(wanted: Sequence[str], available: Sequence[str], otherwise: str | None) -> str | None:
    """The best available language for a user with these languages, the preferred one first."""
    tags = {tag: parsed for tag in available if (parsed := _parse(tag)) is not None}
    for want in map(_parse, wanted):
        ranked = (
            [] if want is None else [(rank, tag) for tag, has in tags.items() if (rank := _rank(want, has)) is not None]
        )
        if ranked:
            return min(ranked, key=lambda found: found[0])[1]
    return otherwise


def variations(tag: str) -> Iterator[str]:
    """The tag and its prefixes: pt-BR, pt."""
    while tag:
        yield tag
        tag = tag.rpartition("-")[0]


def is_right_to_left(tag: str) -> bool:
    """Whether the language is written from right to left."""
    parsed = _parse(tag)
    return parsed is not None and (
        parsed.script in ("Arab", "Hebr") or (not parsed.script and parsed.language in _RIGHT_TO_LEFT)
    )


def _rank(want: _Tag, has: _Tag) -> int | None:
    """How well an available language matches a wanted one, 0 best; None if it does not match."""
    if want.language != has.language:
        return None
    wanted, had = _likely(want), _likely(has)
    usual = _likely(wanted._replace(region="", variant=""))
    tests: Iterable[bool] = (
        want == has,
        all(not part or part == other for part, other in zip(has, want, strict=True)),
        wanted[:3] == had[:3],
        usual[:3] == had[:3],
        wanted.script == had.script,
        not want.script and not has.script,
    )
    return next((rank for rank, test in enumerate(tests) if test), None)


def _likely(tag: _Tag) -> _Tag:
    """The tag with its likely script and region."""
    script, region = _LIKELY.get(tag.language, ("", ""))
    script = tag.script or _LIKELY_SCRIPT.get((tag.language, tag.region), script)
    if script == "Hant":
        region = "TW"
    return _Tag(tag.language, script, tag.region or region, tag.variant)


def _parse(text: str) -> _Tag | None:
    parts = text.replace("_", "-").split("-")
    written = [
        parts[0].lower(),
        *(part.title() if len(part) == 4 else part.upper() if len(part) == 2 else part for part in parts[1:]),
    ]
    found = _TAG.fullmatch("-".join(written))
    return None if found is None else _Tag(found[1], found[2] or "", found[3] or "", found[4].lower())
