"""What a user has typed into a page: saved when the page is closed to hide it, and filled in when it is shown again.

The page itself is read and filled by typed.js. Here is what it returns, and what of it is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

__all__ = ["FROZEN", "NOT_WEB", "OTHER_SITE", "Field", "Form", "Step", "TypedInput", "in_words", "merged", "read"]

_MOST: Final = 1_000_000  # bytes of all that one page has to store

FROZEN, NOT_WEB, OTHER_SITE, _TOO_MUCH = "frozen", "not web", "other site", "too much"
_WORDS: Final = {
    "password": ("{} password", "{} passwords"),
    "file": ("{} chosen file", "{} chosen files"),
    "forbidden": (
        "{} field that its site does not allow to be stored",
        "{} fields that their site does not allow to be stored",
    ),
    "unreachable": ("{} field that cannot be found again", "{} fields that cannot be found again"),
    _TOO_MUCH: ("{} field beyond the limit of what is stored", "{} fields beyond the limit of what is stored"),
    NOT_WEB: ("{} field of a page that is not from the web", "{} fields of a page that is not from the web"),
    OTHER_SITE: ("text in {} frame of another site", "text in {} frames of other sites"),
    FROZEN: ("all typed text: the page does not answer", "all typed text: the page does not answer"),
}


class Step(msgspec.Struct, frozen=True):
    """How an element is found in a document or a shadow root: by its id, else as one of those with its tag and name."""

    tag: str
    id: str
    name: str
    place: int


class Field(msgspec.Struct, frozen=True):
    """A field and what was typed into it; `steps` lead to it through shadow roots."""

    steps: list[Step]
    kind: str
    value: str | bool | list[str]


class Form(msgspec.Struct, frozen=True):
    """The fields of one document; `place` leads to its frame from the top, and is empty for the document at the top."""

    url: str
    place: list[int]
    fields: list[Field]


class TypedInput(msgspec.Struct, frozen=True):
    """What was typed into a page: what is stored of it, and how many fields of each kind cannot be."""

    forms: list[Form] = []
    lost: dict[str, int] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed."""
        return not self.forms and not self.lost


class _Answer(Form, frozen=True):
    lost: dict[str, int]


def read(answers: Iterable[object]) -> TypedInput:
    """What typed.js has answered in each document; an answer that makes no sense, or is too long, is a loss."""
    forms: list[Form] = []
    lost: Counter[str] = Counter()
    size = 0
    for answer in answers:
        try:
            said = msgspec.json.decode(answer if isinstance(answer, str) else "", type=_Answer)
        except msgspec.DecodeError:
            lost[FROZEN] += 1
            continue
        lost.update({why: count for why, count in said.lost.items() if why in _WORDS})
        size += len(str(answer))
        if size > _MOST:
            lost[_TOO_MUCH] += len(said.fields)
        elif said.fields:
            forms.append(Form(said.url, said.place, said.fields))
    return TypedInput(forms, {why: count for why, count in lost.items() if count > 0})


def merged(forms: Sequence[Form], pending: Sequence[Form]) -> list[Form]:
    """The forms as they are now, and of earlier ones those that have not been filled in yet."""
    known = {(form.url, *form.place) for form in forms}
    return [*forms, *(form for form in pending if (form.url, *form.place) not in known)]


def in_words(lost: Mapping[str, int]) -> list[str]:
    """What cannot be stored, for people. Says nothing of what was typed."""
    return [_WORDS[why][count != 1].format(count) for why, count in sorted(lost.items()) if why in _WORDS]
