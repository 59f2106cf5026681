"""The arguments and results of scripting.executeScript, insertCSS and removeCSS. Error messages match Firefox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.content_script_host import FrameResult
from hatbox.api.namespaces.tabs.tab_injection import UNEXPECTED, InjectionRequest, sources_of
from hatbox.errors import ApiError

__all__ = ["css_request", "execution_request", "results_of"]


def execution_request(caller: Caller, injection: Mapping[str, Any]) -> InjectionRequest:
    """The request of executeScript. `func` is the source text of a call of the function."""
    files, code = injection["files"], injection["func"]
    _require_one(files, code, "func")
    sources = sources_of(caller, files, code)
    frame_ids, document_ids = _frames(injection["target"])
    return InjectionRequest(
        sources=sources,
        frame_ids=frame_ids,
        document_ids=document_ids,
        run_at="document_start" if injection["injectImmediately"] else "document_idle",
        world=injection["world"] or "ISOLATED",
        match_origin_as_fallback=True,
    )


def css_request(caller: Caller, injection: Mapping[str, Any]) -> InjectionRequest:
    """The request of insertCSS or removeCSS."""
    files, code = injection["files"], injection["css"]
    _require_one(files, code, "css")
    sources = sources_of(caller, files, code)
    frame_ids, document_ids = _frames(injection["target"])
    if frame_ids == ():
        raise ApiError(UNEXPECTED)  # as in Firefox, where executeScript resolves to an empty list
    return InjectionRequest(
        sources=sources,
        frame_ids=frame_ids,
        document_ids=document_ids,
        css_origin="user" if injection["origin"] == "USER" else "author",
        match_origin_as_fallback=True,
    )


def results_of(results: Iterable[FrameResult]) -> list[dict[str, Any]]:
    """scripting.InjectionResult of each frame."""
    return [
        {"frameId": each.frame_id, "documentId": each.document_id}
        | ({"result": each.value} if each.error is None else {"error": each.error.value})
        for each in results
    ]


def _require_one(files: Any, code: Any, name: str) -> None:
    if (files is None) == (code is None):
        raise ApiError(f"Exactly one of files and {name} must be specified.")


def _frames(target: Mapping[str, Any]) -> tuple[tuple[int, ...] | None, tuple[str, ...] | None]:
    """The frame ids and the document ids of a target. Both are None for all frames."""
    frame_ids, document_ids, all_frames = target["frameIds"], target["documentIds"], target["allFrames"]
    if document_ids is not None and frame_ids is not None:
        raise ApiError("Cannot specify both 'documentIds' and 'frameIds'.")
    if all_frames and frame_ids is not None:
        raise ApiError("Cannot specify both 'allFrames' and 'frameIds'.")
    if all_frames and document_ids is not None:
        raise ApiError("Cannot specify both 'allFrames' and 'documentIds'.")
    if all_frames:
        return None, None
    if frame_ids is not None:
        return tuple(dict.fromkeys(frame_ids)), None
    return (None, tuple(dict.fromkeys(document_ids))) if document_ids is not None else ((0,), None)
