"""The description of CDP that a Chromium has of itself, and made-up arguments for each of its methods."""

from __future__ import annotations

import json
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.waiting import block_until

__all__ = ["arguments", "description", "methods"]


@cache
def description(browser: str) -> dict[str, Any]:
    """All domains, from a browser of its own that listens on a free port."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [browser, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={folder}", "--no-sandbox"]
        with subprocess.Popen(
            [*command, "about:blank"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as process:
            port = Path(folder, "DevToolsActivePort")
            try:
                block_until(lambda: port.exists() and "\n" in port.read_text(), "DevToolsActivePort")
                url = f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json/protocol"
                with urllib.request.urlopen(url) as response:
                    found: dict[str, Any] = json.load(response)
            finally:
                process.kill()
    return found


def methods(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the description of each method."""
    for domain in described["domains"]:
        for command in domain.get("commands", ()):
            yield f"{domain['domain']}.{command['name']}", command


def arguments(
    described: dict[str, Any], method: str, command: dict[str, Any], ids: Mapping[str, Any]
) -> dict[str, Any]:
    """Required arguments are made up. Those with a name in `ids` are always given."""
    types = {f"{each['domain']}.{kind['id']}": kind for each in described["domains"] for kind in each.get("types", ())}
    return {
        each["name"]: _made_up(each, method.partition(".")[0], types, ids, 0)
        for each in command.get("parameters", ())
        if not each.get("optional") or each["name"] in ids
    }


def _made_up(described: Any, domain: str, types: Any, ids: Mapping[str, Any], depth: int) -> Any:
    if (name := described.get("name")) in ids:
        return ids[name]
    if "$ref" in described:
        name = described["$ref"] if "." in described["$ref"] else f"{domain}.{described['$ref']}"
        return _made_up(types[name], name.partition(".")[0], types, ids, depth + 1)
    if "enum" in described:
        return described["enum"][0]
    match described.get("type"):
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "array":
            return [] if depth > 3 else [_made_up(described["items"], domain, types, ids, depth + 1)]
        case "object":
            properties = [each for each in described.get("properties", ()) if not each.get("optional")]
            return {each["name"]: _made_up(each, domain, types, ids, depth + 1) for each in properties if depth < 4}
    return "1"
