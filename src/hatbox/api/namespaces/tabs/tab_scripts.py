"""tabs.executeScript, insertCSS and removeCSS: checks their details. Error messages match Firefox."""

from __future__ import annotations

from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.tab_functions import Details
from hatbox.api.namespaces.tabs.tab_injection import (
    UNEXPECTED,
    InjectionRequest,
    TabInjector,
    require_clonable,
    sources_of,
)
from hatbox.errors import ApiError

__all__ = ["execute_script", "insert_css", "remove_css"]


async def execute_script(injector: TabInjector, caller: Caller, tab_id: int | None, details: Details) -> list[Any]:
    """Run a script in frames of a tab; its results, one for each frame."""
    tab = await injector.ready_tab(tab_id)
    request = _request(caller, details, "executeScript")
    results = await injector.execute(caller, tab, request)
    for each in results:
        if each.error is not None:
            raise ApiError(each.error.message or UNEXPECTED)
    require_clonable(caller, request, results)
    return [each.value for each in results]


async def insert_css(injector: TabInjector, caller: Caller, tab_id: int | None, details: Details) -> None:
    """Add a style sheet to documents of a tab."""
    tab = await injector.ready_tab(tab_id)
    await injector.insert_css(caller, tab, _request(caller, details, "insertCSS"))


async def remove_css(injector: TabInjector, caller: Caller, tab_id: int | None, details: Details) -> None:
    """Remove a style sheet from documents of a tab."""
    tab = await injector.ready_tab(tab_id)
    await injector.remove_css(caller, tab, _request(caller, details, "removeCSS"))


def _request(caller: Caller, details: Details, method: str) -> InjectionRequest:
    code, file, frame_id = details["code"], details["file"], details["frameId"]
    if (code is None) == (file is None):
        raise ApiError(f"{method} requires either a 'code' or a 'file' property, but not both")
    if frame_id is not None and details["allFrames"]:
        raise ApiError("'frameId' and 'allFrames' are mutually exclusive")
    return InjectionRequest(
        sources=sources_of(caller, None if file is None else [file], code),
        frame_ids=None if details["allFrames"] else (frame_id or 0,),
        run_at=details["runAt"],
        css_origin=details["cssOrigin"],
        match_about_blank=bool(details["matchAboutBlank"]),
    )
