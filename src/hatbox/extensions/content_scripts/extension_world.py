"""The world of one extension in the documents of an engine: its names, its settings, and the sources of its runner."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from hatbox.api.caller import ExtensionCaller
from hatbox.engines.chromium.launch import Launched
from hatbox.errors import HatboxError
from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extensions.content_scripts.content_api import describe_for_content
from hatbox.extensions.content_scripts.declared_names import DeclaredNames, find_declared_names
from hatbox.extensions.content_scripts.runner_source import (
    LoadedScript,
    WorldNames,
    host_patterns,
    main_runner,
    runner_code,
    runner_config,
    source_text,
)
from hatbox.extensions.package.extension_urls import file_name, is_relative
from hatbox.extensions.pages.page_context import environment_script
from hatbox.extensions.pages.page_files import content_type
from hatbox.extensions.pages.page_urls import PageUrls
from hatbox.extensions.pages.script_bundle import bundle_function, page_settings, settings_text
from hatbox.extensions.runtime import Boot, LogEntry, RuntimeLimits
from hatbox.javascript.wire_codec import encode
from hatbox.messaging.context import ExtensionContext

if TYPE_CHECKING:
    from hatbox.extensions.extension import Extension

__all__ = ["ExtensionWorld", "FrameNames", "RunnerSources", "resolve_style_urls"]

_LOCATION: Final = re.compile(r"(moz-extension://[^\s()]+?):(\d+):(\d+)")
_STYLE_URL: Final = re.compile(r"""\burl\(\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([^\s"'()\\]+))\s*\)""", re.IGNORECASE)
_MAX_EMBEDDED_FILE: Final = 32 << 10
_MAX_EMBEDDED: Final = 256 << 10  # of one style sheet: every page that it matches gets the text


class RunnerSources(NamedTuple):
    """The sources of the runner: code and configuration for the world of the extension, a script for the main world.

    None without scripts for that world.
    """

    code: str | None
    config: str | None
    main: str | None

    @property
    def isolated(self) -> str | None:
        """Code and configuration as one script."""
        return None if self.config is None else f"{self.code}\n{self.config}"


class FrameNames(NamedTuple):
    """The names in the main world of an extension page in a frame: secret, as those of WorldNames."""

    binding: str
    receiver: str


class ExtensionWorld:
    """The world of an extension, as long as one version of it runs."""

    def __init__(self, extension: Extension) -> None:
        self.extension = extension
        self.loaded = extension.loaded
        """The version."""
        secret = secrets.token_hex(8)
        self.names = WorldNames(f"hatbox {secret}", f"hatboxPost{secret}", f"hatboxReceive{secret}", f"hatbox{secret}")
        secret = secrets.token_hex(8)
        self.frame_names = FrameNames(f"hatboxPost{secret}", f"hatboxReceive{secret}")
        self.urls = PageUrls(extension.loaded.manifest.uuid)
        self.limits = RuntimeLimits()
        self.scripts: tuple[ContentScript, ...] = ()
        self.has_run_in_open_pages = False
        self.on_outdated: Callable[[], None] = lambda: None
        """Called when the sources depend on permissions that have changed."""

    def on_permissions_changed(self) -> None:
        """Permissions were granted or revoked."""
        if any(script.check_permissions for script in self.scripts):
            self.on_outdated()

    @property
    def is_current(self) -> bool:
        """Whether this version of the extension is still the one that runs."""
        return self.extension.loaded is self.loaded

    def caller(self, context: ExtensionContext) -> ExtensionCaller:
        """The extension as the caller of the API, in the context of one document."""
        return self.extension.caller.in_context(context)

    def boot(self) -> Boot:
        """The settings of the bridge."""
        manifest, caller = self.loaded.manifest, self.extension.caller
        return Boot(
            uuid=manifest.uuid,
            extension_id=manifest.id,
            manifest=caller.manifest,
            description=describe_for_content(caller),
            data={"i18n": manifest.locales.for_runtime(), "testing": caller.on_test_report is not None},
        )

    def url(self, source: ScriptSource) -> str:
        """The URL of a source in stack traces."""
        return self.loaded.manifest.base_url + (source.file or "code")

    def text(self, source: ScriptSource) -> str | None:
        """The text of a source; None if its file does not exist."""
        return source_text(source, self.loaded.package.read)

    def style_text(self, source: ScriptSource) -> str | None:
        """The text of a style sheet with its messages and URLs replaced; None if its file does not exist."""
        text = self.text(source)
        if text is None or not source.file:
            return text
        manifest = self.loaded.manifest
        if "__MSG_" in text:
            with contextlib.suppress(HatboxError):  # the result is too long
                text = manifest.locales.localize(text)
        return resolve_style_urls(text, source.file, manifest.base_url, self.loaded.package.read)

    def empty_runner(self) -> str:
        """A runner without scripts, for documents that no script matches."""
        return f"{runner_code()}\n{self._config([], {})}"

    def frame_source(self) -> str:
        """The script for the documents of a frame that loads a page of the extension."""
        settings = page_settings(
            self.boot(), self.limits, context="content", origin=f"{self.urls.origin}/", host_fetch=True
        )
        settings |= {"hosts": host_patterns(self.extension.caller.hosts), "resources": None, "hasFiles": False}
        return _frame_script(self.frame_names.binding, self.frame_names.receiver, self.urls, settings)

    async def runner_sources(self, launched: Launched) -> RunnerSources:
        """The sources for the current scripts. Raises Playwright's Error."""
        isolated = [(each, self._load(each)) for each in self.scripts if each.world == "ISOLATED"]
        main = [(each, self._load(each)) for each in self.scripts if each.world == "MAIN"]
        texts = {text for _, loaded in (*isolated, *main) for _, text in loaded.js}
        declared = await find_declared_names(launched, texts)
        for _, loaded in main:
            for url, text in loaded.js:
                if error := declared[text].error:
                    self.log_error(error, url)
        hosts = self.extension.caller.hosts
        return RunnerSources(
            runner_code(loaded for _, loaded in isolated) if isolated else None,
            self._config(isolated, declared) if isolated else None,
            main_runner(main, hosts, declared) if main else None,
        )

    def log_error(self, text: str, file: str = "") -> None:
        """Log an error."""
        self.extension.log(LogEntry("error", "error", text, file))

    def log_exception(self, details: dict[str, Any]) -> None:
        """Log an uncaught error of a content script, from the Runtime.ExceptionDetails of CDP."""
        text = details.get("exception", {}).get("description") or details["text"]
        message, *frames = text.split("\n    at ")
        own = [frame for frame in frames if self.loaded.manifest.base_url in frame]
        location = _LOCATION.search(own[0]) if own else None
        file, line, column = location.groups() if location else ("", "0", "0")
        kind = "rejection" if "(in promise)" in details["text"] else "error"
        self.extension.log(LogEntry(kind, "error", message, file, int(line), int(column), "\n".join(own)))

    def _config(
        self, scripts: Sequence[tuple[ContentScript, LoadedScript]], declared: Mapping[str, DeclaredNames]
    ) -> str:
        hosts = self.extension.caller.hosts
        settings = page_settings(self.boot(), self.limits, context="content", host_fetch=True)
        has_files = bool(self.loaded.manifest.web_accessible_resources)
        settings |= {"hosts": host_patterns(hosts), "resources": self.urls.origin, "hasFiles": has_files}
        evaluates = self.loaded.manifest.manifest_version == 2
        text = encode(settings).decode()
        return runner_config(self.names, scripts, hosts, declared, text, evaluates=evaluates)

    def _load(self, script: ContentScript) -> LoadedScript:
        js = [(self.url(source), self._logged(source, self.text(source))) for source in script.js]
        css = [self._logged(source, self.style_text(source)) for source in script.css]
        return LoadedScript(
            tuple((url, text) for url, text in js if text is not None), tuple(text for text in css if text is not None)
        )

    def _logged(self, source: ScriptSource, text: str | None) -> str | None:
        if text is None:
            self.log_error(f"Unable to load script: {self.url(source)}")
        return text


def _frame_script(binding: str, receiver: str, urls: PageUrls, settings: Mapping[str, Any]) -> str:
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


def resolve_style_urls(text: str, file: str, base_url: str, read: Callable[[str], bytes | None]) -> str:
    """The text of a style sheet with absolute URLs. `base_url` is the moz-extension:// URL of the package.

    Small files are embedded as data: URLs. Firefox loads all files because the style sheet belongs to the
    extension. For Chromium it belongs to the web page, which may load only files that the manifest lists.
    """
    remaining = _MAX_EMBEDDED

    def resolve(found: re.Match[str]) -> str:
        nonlocal remaining
        url = next(group for group in found.groups() if group is not None)
        is_own = url.startswith(base_url)
        if not is_own and (url.startswith("#") or not url or not is_relative(url)):
            return found[0]
        name = file_name(url.removeprefix(base_url), "" if is_own else file)
        fragment = quote(url[url.index("#") :], safe="#%/?:@!$&()*+,;=-._~") if "#" in url else ""
        content = _read_embedded(name, read)
        if content is None or len(content) > min(_MAX_EMBEDDED_FILE, remaining):
            return f'url("{base_url}{quote(name)}{fragment}")'
        remaining -= len(content)
        encoded = base64.b64encode(content).decode("ascii")
        return f'url("data:{content_type(name)};base64,{encoded}{fragment}")'

    return _STYLE_URL.sub(resolve, text)


def _read_embedded(name: str, read: Callable[[str], bytes | None]) -> bytes | None:
    try:
        return read(name)
    except (HatboxError, OSError):
        return None
