"""Who sends messages and gets them: a page of an extension, its background, or a script of it in a tab."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

if TYPE_CHECKING:
    from hatbox.messaging.ports import Port

__all__ = ["BACKGROUND_PAGE", "ExtensionContext", "Recipient"]

BACKGROUND_PAGE: Final = "_generated_background_page.html"

_numbers = count(1)


class ExtensionContext:
    """One place where code of an extension runs. It is itself, and equal to no other.

    `kind` is one of Firefox's types of contexts: BACKGROUND, POPUP, TAB, SIDE_PANEL; None for a script in a web page.
    """

    def __init__(
        self,
        extension_id: str,
        url: str,
        origin: str,
        *,
        kind: str | None = "BACKGROUND",
        tab_id: int | None = None,
        frame_id: int = 0,
        scripted: bool = False,
    ) -> None:
        self.extension_id = extension_id
        self.url = url
        self.origin = origin
        self.kind = kind
        self.tab_id = tab_id
        self.frame_id = frame_id
        self.is_javascript = scripted
        """Whether JavaScript runs there, and not Python."""
        self.number = next(_numbers)
        self.id = str(uuid4())
        self.document_id = str(uuid4())
        self.ports: dict[int, Port] = {}
        """Its ends of the ports that are open, by the number that they have in it."""
        self.closed = False
        """Whether it has been closed."""

    @property
    def env_type(self) -> str:
        """What Firefox calls its kind of environment."""
        return "content_child" if self.kind is None else "addon_child"


class Recipient(NamedTuple):
    """Where a message or a connection goes: to the pages of an extension, or to what it has in a tab."""

    extension_id: str
    tab_id: int | None = None
    frame_id: int | None = None
    document_id: str | None = None

    def matches(self, context: ExtensionContext, sender: ExtensionContext) -> bool:
        """Whether it means this one. What goes to the pages of an extension never comes back to the page it is from."""
        if context.closed or context.extension_id != self.extension_id:
            return False
        if self.document_id is not None:
            return context.document_id == self.document_id and context.tab_id == self.tab_id
        if self.tab_id is not None:
            return context.tab_id == self.tab_id and self.frame_id in (None, context.frame_id)
        return context is not sender and context.kind is not None
