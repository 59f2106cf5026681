"""The script for a page of an extension in a frame of a web page: it gets the API of content scripts, as in Firefox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hatbox.extensions.pages.page_context import environment_script
from hatbox.extensions.pages.page_urls import PageUrls
from hatbox.extensions.pages.script_bundle import bundle_function, settings_text

__all__ = ["frame_script"]


def frame_script(binding: str, receiver: str, urls: PageUrls, settings: Mapping[str, Any]) -> str:
    """The script for the main world. A document of another origin gets nothing, and loses the binding."""
    names = json.dumps([binding, receiver, urls.origin])
    return f"""(([binding, receiver, origin]) => {{
const post = globalThis[binding];
delete globalThis[binding];
if (self.origin !== origin || typeof post !== "function") return;
{environment_script(urls)}
const {{receive}} = {bundle_function("content_main")}(post, {settings_text(settings)});
Object.defineProperty(globalThis, receiver, {{value: receive, configurable: true}});
}})({names});
//# sourceURL=hatbox:frame.js
"""
