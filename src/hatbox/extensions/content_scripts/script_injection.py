"""Runs scripts of an extension in the document of one frame, for executeScript, and returns their result."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

from hatbox.api.content_script_host import FrameResult, Injection, InjectionError
from hatbox.engines.chromium.protocol_hub import HubSession
from hatbox.extensions.content_scripts.extension_world import ExtensionWorld
from hatbox.extensions.content_scripts.page_frames import PageFrame
from hatbox.extensions.pages.script_bundle import exports_of
from hatbox.javascript.wire_codec import UNDEFINED, decode

__all__ = ["evaluate_in_frame", "open_world", "wait_for_run_at"]

_MAX_RESULT: Final = 1 << 26  # characters


async def open_world(frame: PageFrame, world: ExtensionWorld, runner: str) -> str:
    """The uniqueId of the extension's world in the document of a frame, with a bridge. `runner` is used without one.

    Raises Playwright's Error if the document has ended.
    """
    session, names = frame.session, world.names
    context = frame.contexts.get(names.world)
    if context is None:
        await session.send("Page.createIsolatedWorld", {"frameId": frame.id, "worldName": names.world})
        context = frame.contexts[names.world]
    found = await _evaluate(session, context.unique_id, f"this[{json.dumps(names.runner)}]?.boot() ?? 0")
    if found["result"].get("value") == 0 and not await _has_runner(session, context.unique_id, names.runner):
        await _evaluate(session, context.unique_id, runner)
        await _evaluate(session, context.unique_id, f"this[{json.dumps(names.runner)}].boot()")
    return context.unique_id


async def wait_for_run_at(frame: PageFrame, world: ExtensionWorld, unique_id: str, run_at: str) -> None:
    """Wait until the document has reached this time. Raises Playwright's Error if it ends first."""
    expression = f"this[{json.dumps(world.names.runner)}].ready({json.dumps(run_at)})"
    await _evaluate(frame.session, unique_id, expression, wait=True)


async def evaluate_in_frame(
    frame: PageFrame, world: ExtensionWorld, unique_id: str, document_id: str, injection: Injection
) -> FrameResult:
    """Evaluate the sources one after the other. Raises Playwright's Error if the document ends first."""
    is_main = injection.world == "MAIN"
    target = frame.contexts[""].unique_id if is_main else unique_id
    result = partial(FrameResult, frame_id=frame.number, document_id=document_id)
    answer: dict[str, Any] = {"result": {"type": "undefined"}}
    for index, source in enumerate(injection.sources):
        text = world.text(source)
        if text is None:
            return result(error=InjectionError(None, f"Unable to load script: {world.url(source)}"))
        script = f"{text}\n//# sourceURL={world.url(source)}"
        answer = await _evaluate(frame.session, target, script, wait=index == len(injection.sources) - 1)
        if "exceptionDetails" in answer:
            break
    encoder = f"({exports_of('content_values')})" if is_main else f"globalThis[{json.dumps(world.names.runner)}]"
    if (details := answer.get("exceptionDetails")) is not None:
        thrown = details.get("exception", {"type": "undefined"})
        described = await _encoded(frame.session, target, f"{encoder}.encodeThrown", thrown)
        message, encoded = json.loads(described or "[null, null]")
        value = UNDEFINED if encoded is None else decode(encoded.encode())
        return result(error=InjectionError(message, value), is_clonable=encoded is not None)
    encoded = await _encoded(frame.session, target, f"{encoder}.encodeResult", answer["result"])
    return result(is_clonable=False) if encoded is None else result(value=decode(encoded.encode()))


async def _evaluate(session: HubSession, unique_id: str, expression: str, *, wait: bool = False) -> dict[str, Any]:
    """By default, Chromium allows `eval` to an evaluated script, whatever the policy of the document says."""
    params = {"expression": expression, "uniqueContextId": unique_id, "awaitPromise": wait, "silent": True}
    return await session.send("Runtime.evaluate", {**params, "allowUnsafeEvalBlockedByCSP": False})


async def _has_runner(session: HubSession, unique_id: str, runner: str) -> bool:
    found = await _evaluate(session, unique_id, f"this[{json.dumps(runner)}] !== undefined")
    return found["result"].get("value") is True


async def _encoded(session: HubSession, unique_id: str, function: str, value: dict[str, Any]) -> str | None:
    params = {
        "functionDeclaration": f"function(value) {{ return {function}(value); }}",
        "uniqueContextId": unique_id,
        "arguments": [_argument(value)],
        "silent": True,
        "returnByValue": True,
    }
    answer = await session.send("Runtime.callFunctionOn", params)
    text = answer["result"].get("value")
    return text if isinstance(text, str) and len(text) <= _MAX_RESULT else None


def _argument(value: dict[str, Any]) -> dict[str, Any]:
    for key in ("objectId", "unserializableValue", "value"):
        if key in value:
            return {key: value[key]}
    return {}
