"""The arguments of the tools, with the names of @playwright/mcp where the meaning is the same. Pure data."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

__all__ = [
    "ClickArguments",
    "ConsoleArguments",
    "DialogArguments",
    "DragArguments",
    "FetchArguments",
    "FillFormArguments",
    "FilledField",
    "FindArguments",
    "HoverArguments",
    "NavigateArguments",
    "NoArguments",
    "PressKeyArguments",
    "ScreenshotArguments",
    "SelectOptionArguments",
    "SignedInArguments",
    "SnapshotArguments",
    "TabsArguments",
    "TypeArguments",
    "UploadArguments",
    "WaitArguments",
]

Target = Annotated[str, Meta(max_length=64, description="Reference of the element in the latest snapshot, such as e12")]
Element = Annotated[str, Meta(max_length=1000, description="Description of the element for people")]
PageUrl = Annotated[str, Meta(max_length=8000, description="URL that starts with http:// or https://")]
Text = Annotated[str, Meta(max_length=100_000)]


class NoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For tools without arguments."""


class SignedInArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of signed_in."""

    url: PageUrl


class FetchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of fetch."""

    url: PageUrl
    method: Annotated[str, Meta(pattern="^[A-Za-z]{1,20}$")] = "GET"
    headers: Annotated[dict[str, str], Meta(max_length=50)] = {}
    body: Annotated[str, Meta(max_length=1_000_000)] = ""


class NavigateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_navigate."""

    url: PageUrl


class SnapshotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_snapshot."""

    target: Target = ""
    depth: Annotated[int, Meta(ge=1, le=1000, description="Maximum depth of the tree")] | None = None


class ClickArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Of browser_click."""

    target: Target
    element: Element = ""
    button: Literal["left", "right", "middle"] = "left"
    double_click: bool = False
    modifiers: Annotated[list[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]], Meta(max_length=5)] = []


class TypeArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_type."""

    target: Target
    text: Text
    element: Element = ""
    submit: Annotated[bool, Meta(description="Press Enter afterwards")] = False
    slowly: Annotated[bool, Meta(description="One key at a time, at most 1000 characters")] = False


class FilledField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of browser_fill_form."""

    target: Target
    value: Annotated[
        str, Meta(max_length=100_000, description="true or false for checkboxes; the label for comboboxes")
    ]
    element: Element = ""
    name: Element = ""
    type: Literal["textbox", "checkbox", "radio", "combobox", "slider"] = "textbox"


class FillFormArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_fill_form."""

    fields: Annotated[list[FilledField], Meta(min_length=1, max_length=100)]


class SelectOptionArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_select_option."""

    target: Target
    values: Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=100)]
    element: Element = ""


class PressKeyArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_press_key."""

    key: Annotated[str, Meta(min_length=1, max_length=64, description="Such as Enter, ArrowLeft, a or Control+A")]


class HoverArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_hover."""

    target: Target
    element: Element = ""


class DragArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Of browser_drag."""

    start_target: Target
    end_target: Target
    start_element: Element = ""
    end_element: Element = ""


class FindArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_find."""

    text: Annotated[str, Meta(min_length=1, max_length=1000, description="Text to look for; case does not matter")]


class ConsoleArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Of browser_console_messages."""

    only_errors: bool = False


class WaitArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Of browser_wait_for."""

    time: Annotated[float, Meta(ge=0, le=30, description="Seconds")] | None = None
    text: Annotated[str, Meta(max_length=1000, description="Text that appears")] = ""
    text_gone: Annotated[str, Meta(max_length=1000, description="Text that disappears")] = ""


class TabsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_tabs."""

    action: Literal["list", "new", "close", "select"]
    index: Annotated[int, Meta(ge=0, description="For close and select. Default of close: the current tab")] | None = (
        None
    )
    url: Annotated[str, Meta(max_length=8000, description="For new")] = ""


class ScreenshotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Of browser_take_screenshot."""

    type: Literal["png", "jpeg"] = "png"
    full_page: bool = False
    target: Target = ""
    element: Element = ""


class DialogArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Of browser_handle_dialog."""

    accept: bool
    prompt_text: Annotated[str, Meta(max_length=10_000)] = ""


class UploadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of browser_file_upload."""

    paths: Annotated[list[Annotated[str, Meta(max_length=4000)]], Meta(max_length=20)] = []
