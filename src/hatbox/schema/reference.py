"""Writes docs/reference/extensions.md from the schemas, so that it names what is there and nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from hatbox.schema.loader import NamespaceSchema, load, read

__all__ = ["reference"]

_INTRODUCTION: Final = """\
# What extensions find in `browser`

Made by `python -m hatbox.schema.reference`; change that, or the schemas, and not this file.

A member that is listed behaves as in Firefox 153, except for [these differences](../differences.md). Other members do
not exist: `browser.tabs.captureTab` is undefined, as it is in a browser that does not know it, and so are
namespaces whose permission the extension does not hold. `chrome` has the same members, with callbacks.

What is drawn in a browser is a registry here: menus, buttons, commands and notifications are listed by
`hatbox extensions list --ui` and clicked with `hatbox extensions trigger`.

What is not there at all:

- a DOM: the background has `window` and `self`, `location`, `navigator`, `fetch`, `WebSocket`, `localStorage`,
  timers and what else workers have, and no `document`. One that is a service worker has `importScripts`, and no
  `localStorage`;
- pages of extensions: popups, sidebars and options pages are not shown. Tests play them from Python;
- content scripts: nothing is put into web pages. `tabs.sendMessage` reaches what a test plays there.

`fetch` and `WebSocket` reach the hosts that the extension has permission for, with the cookies of no identity.
"""


def reference() -> str:
    """The whole of docs/reference/extensions.md."""
    shown = sorted((each for each in load() if not each.hidden), key=lambda each: (each.namespace.lower(), each.file))
    return "\n".join([_INTRODUCTION, *(line for surface in shown for line in _section(surface))])


def _section(surface: NamespaceSchema) -> Iterator[str]:
    schema = read(surface.file)
    yield from (f"## {surface.namespace}{_of_version(surface)}", "", schema["description"], "")
    yield from (f"Needs: {_needs(surface)}.", "", "| member | what it does |", "|---|---|")
    for name, each in sorted(schema.get("properties", {}).items()):
        yield f"| `{name}` | {_text(each)} |"
    for each in schema["functions"]:
        yield f"| `{each['name']}({', '.join(_parameters(each))})` | {_text(each)} |"
    for each in schema["events"]:
        yield f"| `{each['name']}` | {_text(each)} |"
    yield ""


def _of_version(surface: NamespaceSchema) -> str:
    return f" (manifest version {surface.manifest_version})" if surface.manifest_version else ""


def _needs(surface: NamespaceSchema) -> str:
    """What shows the namespace to a caller, in words."""
    needs = [f"the permission {_either(surface.permissions)}"] if surface.permissions else []
    if surface.manifest_keys:
        needs.append(f"the key {_either(surface.manifest_keys)} in the manifest")
    who = "" if surface.for_extensions else " Python scripts have it too"
    more = f" {_either(surface.honours)} shows more" if surface.honours else ""
    return ";".join(filter(None, [" and ".join(needs) or "nothing", more, who]))


def _either(names: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in sorted(names))


def _parameters(function: dict[str, Any]) -> list[str]:
    """Without the callback, which is for `chrome`."""
    named = [each for each in function["parameters"] if each["name"] != function.get("async")]
    return [each["name"] + ("?" if each.get("optional") else "") for each in named]


def _text(member: dict[str, Any]) -> str:
    text: str = member.get("description", "")
    if extra := member.get("permissions"):
        text += f" Needs the permission {_either(extra)}."
    return text.replace("|", "\\|")  # it stands in a table


if __name__ == "__main__":
    sys.stdout.write(reference())
