"""Extension contexts, which send and receive messages: backgrounds, extension pages and content scripts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

if TYPE_CHECKING:
    from hatbox.messaging.ports import Port

__all__ = ["BACKGROUND_PAGE", "ExtensionContext", "Recipient"]

BACKGROUND_PAGE: Final = "_generated_background_page.html"

_numbers = count(1)


class ExtensionContext:
    """A context in which code of an extension runs (runtime.ExtensionContext), compared by object identity.

    `kind` is a runtime.ContextType: BACKGROUND, POPUP, TAB or SIDE_PANEL. None for a content script.
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
        is_javascript: bool = False,
    ) -> None:
        self.extension_id = extension_id
        self.url = url
        self.origin = origin
        self.kind = kind
        self.tab_id = tab_id
        self.frame_id = frame_id
        self.is_javascript = is_javascript
        """Whether its code is JavaScript, not Python."""
        self.number = next(_numbers)
        self.id = str(uuid4())
        self.document_id = str(uuid4())
        self.ports: dict[int, Port] = {}
        """Its ends of open ports, by port number."""
        self.closed = False
        self.on_close: list[Callable[[], None]] = []
        """Called when the context is closed."""

    @property
    def env_type(self) -> str:
        """Firefox's `envType` of a message sender."""
        return "content_child" if self.kind is None else "addon_child"


class Recipient(NamedTuple):
    """The recipient of a message or connection: the pages of an extension, or its content scripts in a tab."""

    extension_id: str
    tab_id: int | None = None
    frame_id: int | None = None
    document_id: str | None = None

    def matches(self, context: ExtensionContext, sender: ExtensionContext) -> bool:
        """Whether a context receives the message. A page never receives its own messages."""
        if context.closed or context.extension_id != self.extension_id:
            return False
        if self.document_id is not None:
            return context.document_id == self.document_id and context.tab_id == self.tab_id
        if self.tab_id is not None:
            return context.tab_id == self.tab_id and self.frame_id in (None, context.frame_id)
        return context is not sender and context.kind is not None
