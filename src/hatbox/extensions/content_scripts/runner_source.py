"""The sources of runner.js for the content scripts of one extension. Pure text.

The code of the runner and the bridge is a script of its own, the same text in the worlds of all extensions: V8 compiles
it once in a process, and not once for each world and document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extension_data.content_script_matching import RESTRICTED_HOSTS
from hatbox.extensions.content_scripts.declared_names import DeclaredNames, is_strict
from hatbox.extensions.pages.script_bundle import bundle_function
from hatbox.urls.globs import Glob, glob
from hatbox.urls.match_patterns import HostPermissions, MatchPattern, parse_url_pattern
from hatbox.urls.protected_pages import PROTECTED_HOST, PROTECTED_PATH

__all__ = [
    "LoadedScript",
    "WorldNames",
    "for_open_document",
    "host_patterns",
    "main_runner",
    "runner_code",
    "runner_config",
    "source_text",
]

_RUNNER: Final = files(__package__).joinpath("runner.js").read_text("utf-8").strip()
_RUN_AT: Final = {"document_start": 0, "document_end": 1, "document_idle": 2}
_NAMESPACES: Final = ("extension", "i18n", "runtime", "test")  # of members/, that content scripts have
_BRIDGE_NAME: Final = re.compile(r"\b(?:browser|chrome)\b")
_DECLARE: Final = "hatboxDeclare$"
_COOKIE_STORE_ID: Final = "%COOKIE_STORE_ID%"
_START: Final = "%START%"

# Chromium documents no order of the scripts of a world, so the second of code and configuration starts the runner.
# Only own properties count: elements of the page with such an id are globals too.
_MEET: Final = """(own, kind, start) => {
  const name = "hatboxRunner";
  const other = Object.getOwnPropertyDescriptor(globalThis, name)?.value;
  if (typeof other !== kind) {
    Object.defineProperty(globalThis, name, {value: own, configurable: true, enumerable: false, writable: false});
    return;
  }
  delete globalThis[name];
  start(other);
}"""


class WorldNames(msgspec.Struct, frozen=True):
    """The names in the world of an extension: secret, so that no page can use them."""

    world: str
    binding: str
    receiver: str
    """The global from which the host takes the receive function of the bridge."""
    runner: str
    """The global with the functions of runner.js."""


class LoadedScript(msgspec.Struct, frozen=True):
    """The files of a content script: URL and text of each."""

    js: tuple[tuple[str, str], ...]
    css: tuple[str, ...]


def runner_code(scripts: Iterable[LoadedScript] = ()) -> str:
    """The code for the world of an extension: runner.js, and the bridge, which is compiled when a script uses it."""
    return _code(any(_BRIDGE_NAME.search(text) for script in scripts for _, text in script.js))


@cache
def _code(uses_bridge: bool) -> str:
    """V8 scans a string in a tenth of the time that a function takes, but compiles it in each world that uses it."""
    bundle = bundle_function("content_main", _NAMESPACES)
    # Without parentheses around it, V8 compiles a function when it is first called.
    start = bundle[1:-1] if uses_bridge else f"(...values) => evaluate({json.dumps(bundle)})(...values)"
    parts = f"const evaluate = eval;\nconst start = {start};\nconst serve = {_RUNNER};\n"
    run = f'const run = config => {{ serve(config, start); }};\n({_MEET})(run, "object", run);\n'
    return f"(() => {{\n{parts}{run}}})();\n//# sourceURL=hatbox:content.js"


def runner_config(
    names: WorldNames,
    scripts: Sequence[tuple[ContentScript, LoadedScript]],
    hosts: HostPermissions,
    declared: Mapping[str, DeclaredNames],
    settings: str,
    *,
    evaluates: bool = True,
) -> str:
    """The configuration of the runner in the world of an extension. Chromium runs it before or after the code.

    `evaluates`: whether the scripts may call `eval`.
    """
    prefix = f"this[{json.dumps(names.runner)}].declare"
    entries = [
        {
            **_entry(script, hosts),
            "css": loaded.css,
            "files": [_evaluated(prefix, url, text, declared) for url, text in loaded.js],
        }
        for script, loaded in scripts
    ]
    config = {
        **_config(entries),
        "key": names.runner,
        "binding": names.binding,
        "receiver": names.receiver,
        "settings": settings,
        "evaluates": evaluates,
    }
    return (
        f'(config => {{ ({_MEET})(config, "function", run => {{ run(config); }}); }})({json.dumps(config)});\n'
        f"//# sourceURL=hatbox:content_config.js"
    )


def main_runner(
    scripts: Sequence[tuple[ContentScript, LoadedScript]], hosts: HostPermissions, declared: Mapping[str, DeclaredNames]
) -> str:
    """The runner for the main world. It has no bridge."""
    entries = [{**_entry(script, hosts), "css": loaded.css, "files": []} for script, loaded in scripts]
    config = {**_config(entries), "key": None}
    functions = ",".join(
        f"[{','.join(_function(text, declared) for _, text in loaded.js if not declared[text].error)}]"
        for _, loaded in scripts
    )
    return f"{_RUNNER}({json.dumps(config)}, null, [{functions}]);\n"


def for_open_document(source: str, cookie_store_id: str) -> str:
    """The source of a runner for a document that was loaded before the extension has started."""
    return source.replace(_COOKIE_STORE_ID, cookie_store_id).replace(_START, "open", 1)


def source_text(source: ScriptSource, read: Callable[[str], bytes | None]) -> str | None:
    """The text of a source; None if its file does not exist."""
    if not source.file:
        return source.code
    content = read(source.file)
    return None if content is None else content.decode("utf-8-sig", "replace")


def host_patterns(hosts: HostPermissions) -> list[dict[str, Any]]:
    """Host permissions as the scripts compare them."""
    return [_pattern(each, None) for each in hosts.patterns]


def _config(entries: list[dict[str, Any]]) -> dict[str, Any]:
    # `start` is before the texts of scripts, which may contain the same placeholder.
    return {
        "start": _START,
        "scripts": entries,
        "restricted": sorted(RESTRICTED_HOSTS),
        "protected": f"http://{PROTECTED_HOST}{PROTECTED_PATH}",
        "store": _COOKIE_STORE_ID,
    }


def _entry(script: ContentScript, hosts: HostPermissions) -> dict[str, Any]:
    return {
        "frames": script.all_frames,
        "blank": script.match_about_blank,
        "fallback": script.match_origin_as_fallback,
        "stores": script.cookie_store_ids,
        "matches": _patterns(script.matches),
        "excludes": _patterns(script.exclude_matches),
        "hosts": host_patterns(hosts) if script.check_permissions else None,
        "includeGlobs": None if script.include_globs is None else _globs(script.include_globs),
        "excludeGlobs": _globs(script.exclude_globs),
        "at": _RUN_AT[script.run_at],
    }


def _patterns(texts: Iterable[str]) -> list[dict[str, Any]]:
    parsed = map(parse_url_pattern, texts)
    return [_pattern(each.hosts, each.path) for each in parsed if each is not None]


def _pattern(hosts: MatchPattern, path: Glob | None) -> dict[str, Any]:
    return {
        "schemes": sorted(hosts.schemes),
        "domain": hosts.domain,
        "subdomains": hosts.subdomains,
        "path": path and path._asdict(),
    }


def _globs(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [glob(each, question=True)._asdict() for each in texts]


def _evaluated(declare: str, url: str, text: str, declared: Mapping[str, DeclaredNames]) -> str:
    """A script as a text for eval(). Without "use strict" its variables are global anyway."""
    names, strict = declared[text], is_strict(text)
    start = '"use strict";' if strict else ""
    if names.lexical or (strict and names.variables):
        start += f"{declare}({_accessors(names.lexical)},{_accessors(names.variables if strict else ())});"
    return f"{start}{text}\n//# sourceURL={url}"


def _function(text: str, declared: Mapping[str, DeclaredNames]) -> str:
    names = declared[text]
    start = '"use strict";' if is_strict(text) else ""
    start += f"{_DECLARE}({_accessors(names.lexical)},{_accessors(names.variables)});"
    return f"function({_DECLARE}){{{start}{text}\n}}"


def _accessors(names: Iterable[str]) -> str:
    return f"{{__proto__:null,{','.join(f'{name}:[()=>{name},$=>{{{name}=$}}]' for name in names)}}}"
