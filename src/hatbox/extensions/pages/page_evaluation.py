"""Evaluates code of the host in a document, as boot.mjs does in an extension process."""

from __future__ import annotations

import json
from typing import Any, Final

from hatbox.errors import ScriptError
from hatbox.extensions.pages.cdp_connection import CdpSession, context_parameter
from hatbox.extensions.pages.page_console import exception_entry
from hatbox.extensions.pages.page_urls import PageUrls

__all__ = ["PageEvaluation"]

_JSON: Final = "function() { return JSON.stringify(this) ?? 'null'; }"
_MAX_TEXT: Final = 10_000


class PageEvaluation:
    """Runs code in an execution context (its uniqueId or number). Chromium does not apply the document's policy."""

    def __init__(self, session: CdpSession, context_id: str | int, urls: PageUrls) -> None:
        self._session = session
        self._context_id = context_id
        self._urls = urls

    async def evaluate(self, source: str, *, inspect: bool = False) -> Any:
        """Run an expression or statements, with `await`. Returns the result as JSON data, or as readable text.

        Raises ScriptError for what the code throws.
        """
        expression = await self._compilable(source)
        context = context_parameter(self._context_id)
        result = await self._session.send(
            "Runtime.evaluate", {"expression": expression, "awaitPromise": True, **context}
        )
        value = self._value(result)
        if inspect:
            return _shown(value)
        if "objectId" not in value:
            return value.get("value")
        params = {"objectId": value["objectId"], "functionDeclaration": _JSON, "returnByValue": True}
        text = self._value(await self._session.send("Runtime.callFunctionOn", params)).get("value", "null")
        return json.loads(text)

    async def _compilable(self, source: str) -> str:
        """The code as a script, as an expression with `await`, or as the body of an async function."""
        as_expression, as_body = f"(async () => (\n{source}\n))", f"(async () => {{\n{source}\n}})"
        if await self._compiles(f"if (false) {{\n{source}\n}}"):  # a script first: its declarations are global
            return source
        if await self._compiles(as_expression):
            return f"{as_expression}()"
        return f"{as_body}()" if await self._compiles(as_body) else source  # throws the error of the original source

    async def _compiles(self, source: str) -> bool:
        """Whether code that runs nothing has no syntax error. Runtime.compileScript needs an enabled Runtime domain."""
        params = {"expression": source, **context_parameter(self._context_id)}
        return "exceptionDetails" not in await self._session.send("Runtime.evaluate", params)

    def _value(self, result: dict[str, Any]) -> dict[str, Any]:
        if "exceptionDetails" in result:
            entry = exception_entry(result, self._urls)
            name, _, message = entry.text.partition(": ")
            is_error = result["exceptionDetails"].get("exception", {}).get("subtype") == "error"
            error = (message, name) if is_error else (entry.text, "Error")
            raise ScriptError(*error, entry.stack, entry.file, entry.line, entry.column)
        value: dict[str, Any] = result["result"]
        return value


def _shown(value: dict[str, Any]) -> str:
    if value["type"] == "string":
        return json.dumps(value["value"], ensure_ascii=False)[:_MAX_TEXT]
    if value["type"] == "undefined" or value.get("subtype") == "null":
        return "null" if value.get("subtype") == "null" else "undefined"
    if value["type"] in ("number", "boolean", "bigint") and "value" in value:
        return json.dumps(value["value"])
    return str(value.get("description", value.get("unserializableValue", "")))[:_MAX_TEXT]
