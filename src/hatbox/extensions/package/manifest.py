"""Reads the manifest of an extension, version 2 or 3, as Firefox does. Runs and stores nothing.

schema/document_files/manifest.json describes the keys. Here they become one struct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.errors import ManifestError
from hatbox.extension_data import permission_names
from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extension_data.extension_permissions import NONE, Permissions, host_pattern, is_host_pattern
from hatbox.extensions.package.background import Background, read_background
from hatbox.extensions.package.extension_ids import extension_uuid, temporary_id
from hatbox.extensions.package.extension_urls import file_name, is_relative
from hatbox.extensions.package.json_text import MAX_BYTES, parse_json
from hatbox.extensions.package.locales import Locales, read_locales
from hatbox.extensions.package.manifest_formats import MANIFEST_DOCUMENT, UNSAFE_EVAL, resolve_urls, script_sources
from hatbox.extensions.package.manifest_messages import dotted, manifest_error
from hatbox.extensions.package.package_files import MANIFEST, Package
from hatbox.schema.documents import normalise_document
from hatbox.schema.types import Path, ValidationError

__all__ = ["Action", "Manifest", "ManifestCommand", "OptionsPage", "WebAccessible", "read_manifest"]

MAX_NAME_LENGTH: Final = 75
_OTHER_KINDS: Final = {"theme": "a theme", "langpack_id": "a language pack", "dictionaries": "a dictionary"}


class ManifestCommand(msgspec.Struct, frozen=True):
    """A command, and its shortcuts by platform: `default`, `mac`, `linux`, `windows`."""

    name: str
    description: str | None
    suggested_keys: Mapping[str, str]


class Action(msgspec.Struct, frozen=True):
    """browser_action, action or page_action. Icons by size; an icon without a size has size 0."""

    title: str | None
    popup: str | None
    icons: Mapping[int, str]


class OptionsPage(msgspec.Struct, frozen=True):
    """The options page."""

    page: str
    open_in_tab: bool


class WebAccessible(msgspec.Struct, frozen=True):
    """Files that web pages may load: patterns with a leading slash, and the pages; all pages with version 2."""

    resources: tuple[str, ...]
    matches: tuple[str, ...]
    extension_ids: tuple[str, ...]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest. Files are relative URLs, texts are localized."""

    id: str
    has_own_id: bool
    """Whether the id is from the manifest; otherwise it is from the path of the extension."""
    uuid: str
    manifest_version: int
    name: str
    short_name: str | None
    version: str
    description: str | None
    author: str | None
    homepage_url: str | None
    default_locale: str | None
    incognito: str
    background: Background | None
    required: Permissions
    """Required permissions."""
    optional: Permissions
    """Optional permissions; with version 3, also the host permissions."""
    at_install: Permissions
    """Granted when it is installed, but revocable: with version 3, the host permissions."""
    commands: Mapping[str, ManifestCommand]
    action: Action | None
    page_action: Action | None
    options: OptionsPage | None
    web_accessible_resources: tuple[WebAccessible, ...]
    content_scripts: tuple[ContentScript, ...]
    content_security_policy: str | None
    icons: Mapping[int, str]
    minimum_chrome_version: str | None
    strict_min_version: str | None
    strict_max_version: str | None
    managed_schema: str | None
    keys: Mapping[str, Any]
    """All keys in the normalised form of Firefox; `for_scripts` has absolute URLs."""
    locales: Locales
    warnings: tuple[str, ...]

    @property
    def base_url(self) -> str:
        """The URL of the extension's root."""
        return f"moz-extension://{self.uuid}/"

    @property
    def allows_eval(self) -> bool:
        """Whether its scripts may use eval() and new Function()."""
        return UNSAFE_EVAL in (script_sources(self.content_security_policy or "") or ())

    def for_scripts(self) -> dict[str, Any]:
        """The result of runtime.getManifest(): every key that Firefox knows, with absolute URLs."""
        keys: dict[str, Any] = resolve_urls(self.keys, self.base_url)
        return keys


class ParseContext:
    """The version of a manifest, and the warnings so far."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.warnings: list[str] = []

    def warn(self, path: Path, problem: str) -> None:
        """Add a warning about a key."""
        self.warnings.append(f"{MANIFEST}: {dotted(path)}: {problem}.")


def read_manifest(
    package: Package,
    *,
    languages: Sequence[str] = ("en-US",),
    url_secret: str = "",
    check_all_languages: bool = True,
) -> Manifest:
    """Read the manifest of a package for a user with these languages. Raises ManifestError.

    The host of the extension's URLs depends on `url_secret`, see extension_uuid(). Without `check_all_languages`, only
    the messages of this user are checked, which is enough for an extension that was checked before.
    """
    raw = parse_json(MANIFEST, package.read_limited(MANIFEST, MAX_BYTES) or b"")
    version = _version(raw)
    own_id = _own_id(raw)
    extension_id = own_id or temporary_id(package.place)
    host = extension_uuid(extension_id, url_secret)
    default_locale = raw.get("default_locale")
    if default_locale is not None and not isinstance(default_locale, str):
        raise ManifestError(MANIFEST, "default_locale", "it is not text", 'Write, for example, "en".')
    locales = read_locales(package, default_locale, languages, host, check_all=check_all_languages)
    # Without _locales, Firefox does not replace __MSG_name__.
    reading = ParseContext(version)
    if default_locale and not locales.available:
        reading.warn(("default_locale",), "the folder _locales does not exist; messages have no text")
    try:
        keys, warnings = normalise_document(
            MANIFEST_DOCUMENT, raw, version, locales.localize if default_locale else str
        )
    except ValidationError as error:
        raise manifest_error(error, MANIFEST) from None
    for path, problem in warnings:
        reading.warn(path, problem)
    _combine(keys, raw, reading)
    return _manifest(keys, package, reading, locales, extension_id, own_id is not None, host)


def _version(raw: Any) -> int:
    if not isinstance(raw, dict):
        raise ManifestError(MANIFEST, "", "it is not an object", "Write the manifest in braces.")
    version = raw.get("manifest_version")
    if version not in (2, 3) or isinstance(version, bool):
        problem = "it is missing" if version is None else "Firefox and Hatbox support only 2 and 3"
        raise ManifestError(MANIFEST, "manifest_version", problem, 'Write "manifest_version": 2 or 3.')
    for key, kind in _OTHER_KINDS.items():
        if raw.get(key):
            raise ManifestError(MANIFEST, key, f"this is {kind}, not an extension", "Name an extension.")
    return int(version)


def _own_id(raw: Mapping[str, Any]) -> str | None:
    """The id in the manifest. The schema checks its format later."""
    names = (
        ("browser_specific_settings", "applications")
        if raw["manifest_version"] == 2
        else ("browser_specific_settings",)
    )
    for key in names:
        settings = raw.get(key)
        gecko = settings.get("gecko") if isinstance(settings, dict) else None
        if isinstance(gecko, dict):
            return gecko["id"] if isinstance(gecko.get("id"), str) else None
    return None


def _combine(keys: dict[str, Any], raw: Mapping[str, Any], reading: ParseContext) -> None:
    """Combine keys as Firefox does."""
    settings = keys["browser_specific_settings"]
    if settings and settings["gecko"]:
        if keys.get("applications"):
            reading.warn(("applications",), "browser_specific_settings is set too; this is ignored")
        keys["applications"] = settings
    if len(keys["name"]) > MAX_NAME_LENGTH:
        reading.warn(("name",), f"it is longer than {MAX_NAME_LENGTH} characters; the rest is cut off")
        keys["name"] = keys["name"][:MAX_NAME_LENGTH]
    if keys["options_ui"] and keys["options_ui"]["open_in_tab"]:
        keys["options_ui"]["browser_style"] = False
    for key, default in (
        ("options_ui", True),
        ("browser_action", False),
        ("action", False),
        ("page_action", False),
        ("sidebar_action", True),
    ):
        if keys.get(key):
            _set_browser_style(keys[key], key, default, reading)
    if "storage" not in raw:
        del keys["storage"]  # Chrome's key, which Firefox does not know: only in manifests that have it
    for key in ("experiment_apis", "l10n_resources"):
        if keys[key]:
            reading.warn((key,), "only Mozilla's extensions may use this; it is ignored")
    if reading.version == 2:
        late = permission_names.ONLY_VERSION_3
        keys["optional_permissions"] = [name for name in keys["optional_permissions"] if name not in late]
    keys["granted_host_permissions"] = False


def _set_browser_style(keys: dict[str, Any], key: str, default: bool, reading: ParseContext) -> None:
    if reading.version == 2:
        keys["browser_style"] = default if keys["browser_style"] is None else keys["browser_style"]
        return
    if keys["browser_style"]:
        reading.warn((key, "browser_style"), "manifest version 3 does not have this; it is ignored")
    keys["browser_style"] = False


def _manifest(
    keys: dict[str, Any],
    package: Package,
    reading: ParseContext,
    locales: Locales,
    extension_id: str,
    has_own_id: bool,
    uuid: str,
) -> Manifest:
    gecko = (keys.get("applications") or {}).get("gecko") or {}
    required, optional, at_install = _permissions(keys, gecko, reading)
    policy = keys["content_security_policy"]
    return Manifest(
        id=extension_id,
        has_own_id=has_own_id,
        uuid=uuid,
        manifest_version=reading.version,
        name=keys["name"],
        short_name=keys["short_name"],
        version=keys["version"],
        description=keys["description"],
        author=keys["author"],
        homepage_url=keys["homepage_url"],
        default_locale=keys["default_locale"],
        incognito=keys["incognito"],
        background=read_background(keys["background"], package, reading.warnings.append),
        required=required,
        optional=optional,
        at_install=at_install,
        commands={name: _command(name, command) for name, command in (keys["commands"] or {}).items()},
        action=_action("action" if "action" in keys else "browser_action", keys, package, reading),
        page_action=_action("page_action", keys, package, reading),
        options=_options(keys, package, reading),
        web_accessible_resources=_web_accessible(keys["web_accessible_resources"] or [], reading.version),
        content_scripts=_content_scripts(keys["content_scripts"] or [], package, reading),
        content_security_policy=policy.get("extension_pages") if isinstance(policy, dict) else policy,
        icons=_icons(keys["icons"]),
        minimum_chrome_version=keys["minimum_chrome_version"],
        strict_min_version=gecko.get("strict_min_version"),
        strict_max_version=gecko.get("strict_max_version"),
        managed_schema=_managed_schema(keys.get("storage")),
        keys=keys,
        locales=locales,
        warnings=tuple(reading.warnings),
    )


def _permissions(
    keys: Mapping[str, Any], gecko: Mapping[str, Any], reading: ParseContext
) -> tuple[Permissions, Permissions, Permissions]:
    """The required, the optional and the revocable permissions."""
    data = gecko.get("data_collection_permissions") or {"required": [], "optional": []}
    required = _split("permissions", keys["permissions"], reading)
    optional = _split("optional_permissions", keys["optional_permissions"], reading)
    hosts = _split("host_permissions", keys.get("host_permissions", ()), reading)
    optional_hosts = _split("optional_host_permissions", keys.get("optional_host_permissions", ()), reading)
    collected = tuple(kind for kind in data["required"] if kind != "none")
    required |= Permissions(data_collection=collected)
    optional |= optional_hosts | Permissions(data_collection=tuple(data["optional"]))
    if reading.version == 2:
        return required, optional, NONE
    named = [pattern for script in keys["content_scripts"] or () for pattern in script["matches"]]
    hosts |= Permissions(origins=tuple(host_pattern(pattern) for pattern in named if is_host_pattern(pattern)))
    return required, optional | hosts, hosts


def _split(key: str, entries: Sequence[str], reading: ParseContext) -> Permissions:
    """Split permissions into names and match patterns, without those of Mozilla's extensions."""
    names, origins = [], []
    known = permission_names.REQUIRED | permission_names.OPTIONAL
    for index, entry in enumerate(entries):
        if is_host_pattern(entry):
            origins.append(host_pattern(entry))
        elif entry in known:
            names.append(entry)
        else:
            reading.warn((key, index), f'"{entry}" is for Mozilla\'s extensions only; it is ignored')
    return Permissions(tuple(names), tuple(origins))


def _command(name: str, keys: Mapping[str, Any]) -> ManifestCommand:
    suggested = {system: key for system, key in (keys["suggested_key"] or {}).items() if key is not None}
    return ManifestCommand(name, keys["description"], suggested)


def _action(key: str, manifest: Mapping[str, Any], package: Package, reading: ParseContext) -> Action | None:
    keys = manifest.get(key)
    if keys is None:
        return None
    _warn_if_missing(keys["default_popup"], (key, "default_popup"), package, reading)
    icon = keys["default_icon"]
    return Action(
        keys["default_title"], keys["default_popup"] or None, {0: icon} if isinstance(icon, str) else _icons(icon)
    )


def _options(keys: Mapping[str, Any], package: Package, reading: ParseContext) -> OptionsPage | None:
    page = keys["options_ui"]["page"] if keys["options_ui"] else keys["options_page"]
    if not page:
        return None
    _warn_if_missing(page, ("options_ui", "page") if keys["options_ui"] else ("options_page",), package, reading)
    return OptionsPage(page, bool(keys["options_ui"]["open_in_tab"]) if keys["options_ui"] else True)


def _warn_if_missing(url: str | None, path: Path, package: Package, reading: ParseContext) -> None:
    if url and is_relative(url) and not package.exists(file_name(url)):
        reading.warn(path, f'"{url}" is not in the extension')


def _web_accessible(entries: Sequence[Any], version: int) -> tuple[WebAccessible, ...]:
    if version == 2:
        resources = tuple(f"/{resource.lstrip('/')}" for resource in entries)
        return (WebAccessible(resources, ("<all_urls>",), ("*",)),) if resources else ()
    return tuple(
        WebAccessible(tuple(entry["resources"]), tuple(entry["matches"] or ()), tuple(entry["extension_ids"] or ()))
        for entry in entries
    )


def _content_scripts(
    entries: Sequence[Mapping[str, Any]], package: Package, reading: ParseContext
) -> tuple[ContentScript, ...]:
    for index, entry in enumerate(entries):
        for key in ("js", "css"):
            for place, url in enumerate(entry[key] or ()):
                _warn_if_missing(url, ("content_scripts", index, key, place), package, reading)
    return tuple(_content_script_of(entry, reading.version) for entry in entries)


def _icons(keys: Mapping[str, str] | None) -> dict[int, str]:
    return {int(size): icon for size, icon in (keys or {}).items()}


def _managed_schema(storage: Any) -> str | None:
    schema = storage.get("managed_schema") if isinstance(storage, dict) else None
    return file_name(schema) if isinstance(schema, str) else None


def _content_script_of(entry: Mapping[str, Any], manifest_version: int) -> ContentScript:
    """The content script of an entry. With version 3 it also needs the host permission, which the user may revoke."""
    globs = entry["include_globs"]
    fallback = entry["match_origin_as_fallback"]
    return ContentScript(
        matches=tuple(entry["matches"]),
        exclude_matches=tuple(entry["exclude_matches"] or ()),
        include_globs=None if globs is None else tuple(globs),
        exclude_globs=tuple(entry["exclude_globs"] or ()),
        js=_files(entry["js"]),
        css=_files(entry["css"]),
        css_origin=entry["css_origin"],
        run_at=entry["run_at"],
        world=entry["world"],
        all_frames=bool(entry["all_frames"]),
        # Firefox ignores match_about_blank if match_origin_as_fallback is set, even to false.
        match_about_blank=fallback is None and bool(entry["match_about_blank"]),
        match_origin_as_fallback=bool(fallback),
        check_permissions=manifest_version > 2,
    )


def _files(urls: list[str] | None) -> tuple[ScriptSource, ...]:
    return tuple(ScriptSource(file=file_name(url)) for url in urls or ())
