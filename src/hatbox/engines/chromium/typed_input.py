"""Typed text of a page: saved when the page is closed to hide it, and filled in when it is shown again.

typed_input.js reads and fills the page. This module validates its results, and decides what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

__all__ = [
    "FROZEN",
    "NOT_WEB",
    "OTHER_SITE",
    "Field",
    "Form",
    "Step",
    "TypedInput",
    "describe_lost",
    "merge_forms",
    "parse_typed_input",
]

_MAX_CHARS: Final = 1_000_000  # typed text of one page

FROZEN, NOT_WEB, OTHER_SITE, _TOO_MUCH = "frozen", "not web", "other site", "too much"
_DESCRIPTIONS: Final = {
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
    """Finds an element in a document or shadow root: by its id, else by its index among those with its tag and name."""

    tag: str
    id: str
    name: str
    index: int = msgspec.field(name="place")


class Field(msgspec.Struct, frozen=True):
    """A field and what was typed into it; `steps` lead to it through shadow roots."""

    steps: list[Step]
    kind: str
    value: str | bool | list[str]


class Form(msgspec.Struct, frozen=True):
    """The fields of one document; `frame_path` has the frame indexes from the main frame."""

    url: str
    frame_path: list[int] = msgspec.field(name="place")
    fields: list[Field]


class TypedInput(msgspec.Struct, frozen=True):
    """The typed text of a page: what is stored, and how many fields of each kind are lost."""

    forms: list[Form] = []
    lost: dict[str, int] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed."""
        return not self.forms and not self.lost


class _DocumentInput(Form, frozen=True):
    lost: dict[str, int]


def parse_typed_input(results: Iterable[object]) -> TypedInput:
    """Parse the results of typed_input.js, one per document. An invalid or too long result counts as lost."""
    forms: list[Form] = []
    lost: Counter[str] = Counter()
    size = 0
    for result in results:
        try:
            document = msgspec.json.decode(result if isinstance(result, str) else "", type=_DocumentInput)
        except msgspec.DecodeError:
            lost[FROZEN] += 1
            continue
        lost.update({why: count for why, count in document.lost.items() if why in _DESCRIPTIONS})
        size += len(str(result))
        if size > _MAX_CHARS:
            lost[_TOO_MUCH] += len(document.fields)
        elif document.fields:
            forms.append(Form(document.url, document.frame_path, document.fields))
    return TypedInput(forms, {why: count for why, count in lost.items() if count > 0})


def merge_forms(forms: Sequence[Form], pending: Sequence[Form]) -> list[Form]:
    """The current forms, and earlier ones that are not filled in yet."""
    known = {(form.url, *form.frame_path) for form in forms}
    return [*forms, *(form for form in pending if (form.url, *form.frame_path) not in known)]


def describe_lost(lost: Mapping[str, int]) -> list[str]:
    """Describe the fields that are lost, without their values."""
    return [_DESCRIPTIONS[why][count != 1].format(count) for why, count in sorted(lost.items()) if why in _DESCRIPTIONS]
