"""Where the background of an extension runs: in an extension process (Deno), or in a hidden document of Chromium."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from hatbox.errors import ExtensionError, SandboxUnavailable
from hatbox.extensions.package.background import GENERATED_PAGE, Background
from hatbox.extensions.package.database_users import shares_databases
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox.required import is_sandbox_required

__all__ = ["BACKGROUND_PLACES", "BackgroundPlace", "runs_in_chromium", "without_document"]

BackgroundPlace: TypeAlias = Literal["deno", "chromium"]

BACKGROUND_PLACES: Final[tuple[BackgroundPlace, ...]] = ("deno", "chromium")
"""The places that a user can select."""


def runs_in_chromium(
    package: Package,
    background: Background,
    place: BackgroundPlace | None,
    limits: RuntimeLimits,
    *,
    has_browser: bool,
) -> bool:
    """Whether a background runs in Chromium: if the user selected it, or the browser is running and it needs it.

    A background page needs it, as does a background that shares databases with other pages of its extension.

    Raises ExtensionError for a service worker that the user wants in Chromium, and SandboxUnavailable if the sandbox of
    extension processes is required.
    """
    if is_sandbox_required(limits):
        if place == "chromium":
            raise SandboxUnavailable("the sandbox is required, and a background in Chromium does not run in it")
        return False
    if place == "chromium" and background.service_worker:
        raise ExtensionError(
            "background.service_worker has no document, so it does not run in Chromium. Omit the background option."
        )
    if place is not None:
        return place == "chromium"
    if not has_browser or background.service_worker:
        return False
    return background.page != GENERATED_PAGE or shares_databases(package, background)


def without_document(background: Background, place: BackgroundPlace | None) -> str | None:
    """The message for a background page that runs without a document; None for other backgrounds."""
    if place is not None or background.page == GENERATED_PAGE:
        return None
    return (
        f"{background.page}: its scripts run without a document, because the Chromium engine does not run in this "
        "program. For a document: hatbox run EXTENSION --engine chromium"
    )
