"""Stops the scripts of a page or worker for a while, also if they are in a loop. No command waits without a limit."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.sessions import Session, within

__all__ = ["resume_scripts", "stop_scripts"]

_TIMEOUT: Final = 5.0  # seconds; Chromium executes the command later, when the page can
_DISABLE: Final = "Emulation.setScriptExecutionDisabled"


async def stop_scripts(frames: FrameTree, session: Session, target_id: str) -> None:
    """Stop the scripts of a page, an out-of-process frame or a dedicated worker. Other workers end."""
    target = frames.target(target_id)
    if target is None:
        return
    if target.kind == "worker":
        await _send(frames, target_id, "Runtime.terminateExecution")  # Debugger.enable does not interrupt a loop
        await _send(frames, target_id, "Debugger.enable")
        await _send(frames, target_id, "Debugger.pause")
    elif target.kind in ("shared_worker", "service_worker"):
        with contextlib.suppress(PlaywrightError):
            await session.send("Target.closeTarget", {"targetId": target_id}, _TIMEOUT)
    else:
        await _send(frames, target_id, _DISABLE, value=True)
        if target.kind == "page":
            await _send(frames, target_id, "Page.stopLoading")  # elements without a script request files too


async def resume_scripts(frames: FrameTree, target_id: str) -> None:
    """Undo `stop_scripts`."""
    target = frames.target(target_id)
    if target is not None and target.kind == "worker":
        await _send(frames, target_id, "Debugger.disable")
    elif target is not None and target.kind not in ("shared_worker", "service_worker"):
        await _send(frames, target_id, _DISABLE, value=False)


async def _send(frames: FrameTree, target_id: str, method: str, **params: Any) -> None:
    """Send a command to a target, which may be closed or hang."""
    with contextlib.suppress(PlaywrightError):
        await within(frames.send(target_id, method, **params), method, _TIMEOUT)
