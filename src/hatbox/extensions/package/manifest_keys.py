"""The keys of a manifest and the shape of each, as in Firefox 153: a table, and what the keys have to say together.

Knows nothing of files: whether a script is really there is asked elsewhere.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, Final

from hatbox.extension_data import permission_names
from hatbox.extension_data.extension_permissions import is_host_pattern
from hatbox.extensions.package.extension_ids import is_extension_id
from hatbox.extensions.package.manifest_validators import (
    KeySpec,
    ManifestValueError,
    ParseContext,
    Path,
    Validator,
    anything,
    boolean,
    by_version,
    either,
    integer,
    items,
    members,
    one_of,
    shown,
    table,
    text,
    url,
)
from hatbox.extensions.package.shortcuts import is_shortcut

__all__ = ["MANIFEST_SHAPE", "UNSAFE_EVAL", "script_sources"]

UNSAFE_EVAL: Final = "'unsafe-eval'"

_PATTERN_HELP: Final = 'Write a match pattern, such as "https://*.site.example/*".'
_MOST_HELP: Final = 100
_V2: Final = (2,)
_V3: Final = (3,)


def _permission(allowed: frozenset[str], *, hosts: bool) -> Validator:
    """The name of a permission or, with `hosts`, a match pattern."""

    def accept(value: Any, reading: ParseContext, path: Path) -> str:
        if isinstance(value, str) and (value in allowed or (hosts and _is_pattern(value)) or _is_experiment(value)):
            return value
        raise ManifestValueError(path, f"{shown(value)} {_why_not(value, allowed, reading)}", "Remove it.")

    return accept


def _why_not(value: Any, allowed: frozenset[str], reading: ParseContext) -> str:
    if not isinstance(value, str):
        return "is no permission"
    if is_host_pattern(value):
        return "is a match pattern, which belongs in host_permissions"
    if value in permission_names.REQUIRED:
        return "cannot be optional"
    if value in permission_names.ALONE:
        return "can only be optional"
    helped = len(reading.warnings) < _MOST_HELP  # who has so many wrong has not misspelt them, and looking takes time
    near = get_close_matches(value[:100], allowed, 1) if helped else []
    return f'is no permission that there is (did you mean "{near[0]}"?)' if near else "is no permission that there is"


def _is_experiment(value: str) -> bool:
    return re.fullmatch(r"experiments(\.\w+)+", value, re.ASCII) is not None


def _is_pattern(value: str) -> bool:
    """What Firefox's schema takes for a pattern: also those that are given to nobody."""
    return is_host_pattern(value) or re.match(r"resource://(\*|\*\.[^*/]+|[^*/]+)/|about:", value) is not None


def _is_web_url(value: str) -> bool:
    return re.match(r"https?://[^/?#]|(?!https?:)[a-z][a-z0-9+.\-]*:", value, re.ASCII | re.IGNORECASE) is not None


def _homepage(value: Any, reading: ParseContext, path: Path) -> str:
    check = text(_is_web_url, "is not a whole URL", "Write one that starts with https://.", localized=True)
    found: str = check(value, reading, path)
    return f"{found}/" if re.fullmatch(r"https?://[^/?#]+", found, re.ASCII | re.IGNORECASE) else found


def _policy(value: Any, reading: ParseContext, path: Path) -> str:
    """A content security policy that an extension may have."""
    policy: str = text()(value, reading, path)
    sources = script_sources(policy)
    if sources is None:
        raise ManifestValueError(path, "it has no script-src", "Add script-src 'self'.")
    forbidden = {"'unsafe-inline'"} | ({UNSAFE_EVAL} if reading.version > 2 else set())
    if found := sorted(forbidden & sources):
        raise ManifestValueError(path, f"{found[0]} is not allowed in script-src", "Remove it.")
    return policy


def script_sources(policy: str) -> frozenset[str] | None:
    """Where scripts may come from, in a content security policy; None if it does not say."""
    directives = {words[0].lower(): words[1:] for part in policy.split(";") if (words := part.split())}
    sources = directives.get("script-src", directives.get("default-src"))
    return None if sources is None else frozenset(sources)


def _incognito(value: Any, reading: ParseContext, path: Path) -> str:
    found: str = one_of("not_allowed", "spanning", "split")(value, reading, path)
    if found == "split":
        reading.warn(path, '"split" is not supported; it is read as "not_allowed"')
        return "not_allowed"
    return found


def _data_required(value: Any, reading: ParseContext, path: Path) -> list[str]:
    kinds = permission_names.DATA_COLLECTION | {"none"}
    found: list[str] = items(_permission(kinds, hosts=False), warn=True)(value, reading, path)
    if "none" in found and len(found) > 1:
        reading.warn(path, '"none" does not go together with others; it is ignored')
        return [kind for kind in found if kind != "none"]
    return found


def _version(value: Any, reading: ParseContext, path: Path) -> str:
    found: str = text()(value, reading, path)
    if not re.fullmatch(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,3}", found, re.ASCII):
        reading.warn(path, f"{shown(found)} is not one to four numbers with dots between them")
    return found


def _accessible(value: Any, reading: ParseContext, path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = items(_ACCESSIBLE)(value, reading, path)
    for index, entry in enumerate(found):
        if entry["matches"] is None and entry["extension_ids"] is None:
            remedy = 'Add "matches", a list of match patterns.'
            raise ManifestValueError((*path, index), 'it has neither "matches" nor "extension_ids"', remedy)
        entry["resources"] = [f"/{resource.lstrip('/')}" for resource in entry["resources"]]
    return found


def _background(value: Any, reading: ParseContext, path: Path) -> dict[str, Any] | None:
    found: dict[str, Any] = _BACKGROUND(value, reading, path)
    if found["page"] is not None and found["scripts"] is not None:
        reading.warn((*path, "scripts"), "there is a page as well; the scripts are ignored")
    if found["scripts"] == []:
        reading.warn((*path, "scripts"), "the list is empty")
    if found["scripts"] is None and not found["page"] and not found["service_worker"]:
        reading.warn(path, 'it has none of "scripts", "page" and "service_worker"; it is ignored')
        return None
    return found


_TEXT: Final = text()
_LOCALIZED: Final = text(localized=True)
_FILE: Final = url()
_ICON: Final = url(localized=True)
_PATTERN: Final = text(_is_pattern, "is not a match pattern", _PATTERN_HELP)
_NARROW_PATTERN: Final = text(
    lambda value: is_host_pattern(value) and value != "<all_urls>", "is not a match pattern for this", _PATTERN_HELP
)
_EXTENSION_ID: Final = text(
    is_extension_id, "is not an id of an extension", "Write one such as name@site.example, or a UUID in braces."
)
_ORIGIN: Final = text(
    lambda value: re.fullmatch(r"https?://[^/?#]+", value) is not None,
    "is not an origin",
    "Write one such as https://site.example, without a path.",
)
_SHORTCUT: Final = text(is_shortcut, "is not a key combination", "Write one such as Ctrl+Shift+Y, Alt+1 or F8.")
_HOSTS: Final = items(_PATTERN, warn=True)
_ICONS: Final = table(
    text(lambda value: not value.isspace() and value != "", "is not a file", "Name a file.", localized=True),
    lambda name: re.fullmatch(r"[1-9][0-9]{0,8}", name, re.ASCII) is not None,
    "Write the size of the icon, such as 48.",
)


def _icons(value: Any, reading: ParseContext, path: Path) -> dict[str, Any]:
    _ICONS(value, reading, path)
    return {size: _ICON(icon, reading, (*path, size)) for size, icon in value.items()}


_BACKGROUND: Final = members(
    {
        "page": KeySpec(_FILE),
        "persistent": KeySpec(boolean, default=True, versions=_V2),
        "preferred_environment": KeySpec(items(one_of("service_worker", "document"), warn=True)),
        "scripts": KeySpec(items(_FILE)),
        "service_worker": KeySpec(_FILE),
        "type": KeySpec(one_of("module", "classic")),
    }
)

_ACTION: Final = members(
    {
        "browser_style": KeySpec(boolean),
        "default_area": KeySpec(one_of("navbar", "menupanel", "tabstrip", "personaltoolbar")),
        "default_icon": KeySpec(either(_ICON, _icons)),
        "default_popup": KeySpec(url(localized=True, relative=False)),
        "default_title": KeySpec(_LOCALIZED),
        "theme_icons": KeySpec(
            items(
                members(
                    {
                        "dark": KeySpec(_FILE, required=True),
                        "light": KeySpec(_FILE, required=True),
                        "size": KeySpec(integer, required=True),
                    }
                ),
                at_least=1,
            )
        ),
    }
)

_PAGE_ACTION: Final = members(
    {
        "browser_style": KeySpec(boolean),
        "default_icon": KeySpec(either(_ICON, _icons)),
        "default_popup": KeySpec(url(localized=True, relative=False)),
        "default_title": KeySpec(_LOCALIZED),
        "hide_matches": KeySpec(items(_NARROW_PATTERN, at_least=1)),
        "pinned": KeySpec(boolean, default=True),
        "show_matches": KeySpec(items(_PATTERN, at_least=1)),
    }
)

_SIDEBAR_ACTION: Final = members(
    {
        "browser_style": KeySpec(boolean),
        "default_icon": KeySpec(either(_ICON, _icons)),
        "default_panel": KeySpec(url(localized=True), required=True),
        "default_title": KeySpec(_LOCALIZED),
        "open_at_install": KeySpec(boolean, default=True),
    }
)

_OPTIONS_UI: Final = members(
    {
        "browser_style": KeySpec(boolean),
        "chrome_style": KeySpec(boolean, versions=_V2),
        "open_in_tab": KeySpec(boolean),
        "page": KeySpec(_FILE, required=True),
    }
)

_COMMAND: Final = members(
    {
        "description": KeySpec(_LOCALIZED),
        "suggested_key": KeySpec(
            members(
                {
                    "additionalProperties": KeySpec(_TEXT),  # a slip in Firefox's schema that scripts can see
                    "android": KeySpec(_TEXT),
                    "chromeos": KeySpec(_TEXT),
                    "default": KeySpec(_SHORTCUT),
                    "ios": KeySpec(_TEXT),
                    "linux": KeySpec(_SHORTCUT),
                    "mac": KeySpec(_SHORTCUT),
                    "windows": KeySpec(_SHORTCUT),
                },
                others="refuse",
            )
        ),
    }
)

_CONTENT_SCRIPT: Final = members(
    {
        "all_frames": KeySpec(boolean),
        "css": KeySpec(items(_FILE)),
        "css_origin": KeySpec(one_of("user", "author"), default="author"),
        "exclude_globs": KeySpec(items(_TEXT)),
        "exclude_matches": KeySpec(items(_PATTERN, at_least=1)),
        "include_globs": KeySpec(items(_TEXT)),
        "js": KeySpec(items(_FILE)),
        "match_about_blank": KeySpec(boolean),
        "match_origin_as_fallback": KeySpec(boolean),
        "matches": KeySpec(items(_PATTERN, at_least=1), required=True),
        "run_at": KeySpec(one_of("document_start", "document_end", "document_idle"), default="document_idle"),
        "world": KeySpec(one_of("ISOLATED", "MAIN"), default="ISOLATED"),
    }
)

_ACCESSIBLE: Final = members(
    {
        "extension_ids": KeySpec(
            items(text(lambda value: value == "*" or is_extension_id(value), "is not an id", 'Write "*".'))
        ),
        "matches": KeySpec(items(_PATTERN)),
        "resources": KeySpec(items(_TEXT), required=True),
    }
)

_GECKO: Final = members(
    {
        "admin_install_only": KeySpec(boolean),
        "data_collection_permissions": KeySpec(
            members(
                {
                    "has_previous_consent": KeySpec(boolean, default=False),
                    "optional": KeySpec(
                        items(_permission(permission_names.OPTIONAL_DATA_COLLECTION, hosts=False), warn=True),
                        default=[],
                    ),
                    "required": KeySpec(_data_required, default=[]),
                }
            )
        ),
        "id": KeySpec(_EXTENSION_ID),
        "strict_max_version": KeySpec(_TEXT),
        "strict_min_version": KeySpec(
            text(lambda value: "*" not in value.split("."), "has a star in it", "Name the first version that will do.")
        ),
        "update_url": KeySpec(_homepage),
    }
)
_GECKO_ANDROID: Final = members({"strict_max_version": KeySpec(_TEXT), "strict_min_version": KeySpec(_TEXT)})

MANIFEST_SHAPE: Final = members(
    {
        "applications": KeySpec(members({"gecko": KeySpec(_GECKO)}, others="keep"), versions=_V2),
        "author": KeySpec(_LOCALIZED, warn=True),
        "browser_specific_settings": KeySpec(
            members({"gecko": KeySpec(_GECKO), "gecko_android": KeySpec(_GECKO_ANDROID)}, others="keep")
        ),
        "description": KeySpec(_LOCALIZED),
        "developer": KeySpec(
            members({"name": KeySpec(_LOCALIZED), "url": KeySpec(_homepage, warn=True)}, others="refuse")
        ),
        "homepage_url": KeySpec(_homepage),
        "install_origins": KeySpec(items(_ORIGIN)),
        "manifest_version": KeySpec(integer, required=True),
        "name": KeySpec(_LOCALIZED, required=True),
        "short_name": KeySpec(_LOCALIZED),
        "version": KeySpec(_version, required=True),
        "background": KeySpec(_background),
        "content_scripts": KeySpec(items(_CONTENT_SCRIPT)),
        "content_security_policy": KeySpec(
            by_version({2: _policy, 3: members({"extension_pages": KeySpec(_policy, warn=True)})}), warn=True
        ),
        "granted_host_permissions": KeySpec(boolean, default=False),
        "hidden": KeySpec(boolean, default=False),
        "host_permissions": KeySpec(_HOSTS, default=[], versions=_V3),
        "icons": KeySpec(_icons),
        "incognito": KeySpec(_incognito, default="spanning"),
        "minimum_chrome_version": KeySpec(_TEXT),
        "minimum_opera_version": KeySpec(_TEXT),
        "optional_host_permissions": KeySpec(_HOSTS, default=[], versions=_V3),
        "optional_permissions": KeySpec(
            items(_permission(permission_names.OPTIONAL, hosts=True), warn=True), default=[]
        ),
        "options_page": KeySpec(_FILE),
        "options_ui": KeySpec(_OPTIONS_UI),
        "permissions": KeySpec(
            by_version(
                {
                    2: items(
                        _permission(permission_names.REQUIRED | permission_names.PRIVILEGED, hosts=True), warn=True
                    ),
                    3: items(
                        _permission(permission_names.REQUIRED | permission_names.PRIVILEGED, hosts=False), warn=True
                    ),
                }
            ),
            default=[],
        ),
        "web_accessible_resources": KeySpec(by_version({2: items(_TEXT), 3: _accessible})),
        "action": KeySpec(_ACTION, versions=_V3),
        "browser_action": KeySpec(_ACTION, versions=_V2),
        "chrome_settings_overrides": KeySpec(
            members({"homepage": KeySpec(url(localized=True, relative=False)), "search_provider": KeySpec(anything)})
        ),
        "commands": KeySpec(table(_COMMAND)),
        "devtools_page": KeySpec(_FILE),
        "omnibox": KeySpec(
            members(
                {
                    "keyword": KeySpec(
                        text(
                            lambda value: re.fullmatch(r"[^?\s:][^\s:]*", value) is not None,
                            "is not one word",
                            "Write a word without spaces and colons.",
                        ),
                        required=True,
                    )
                }
            )
        ),
        "page_action": KeySpec(_PAGE_ACTION),
        "sidebar_action": KeySpec(_SIDEBAR_ACTION),
        "chrome_url_overrides": KeySpec(members({"newtab": KeySpec(url(localized=True))}, others="refuse")),
        "declarative_net_request": KeySpec(anything),
        "default_locale": KeySpec(_TEXT),
        "l10n_resources": KeySpec(items(_TEXT)),
        "protocol_handlers": KeySpec(anything),
        "theme_experiment": KeySpec(anything),
        "user_scripts": KeySpec(members({"api_script": KeySpec(_FILE)}), versions=_V2),
        "experiment_apis": KeySpec(anything),
        "storage": KeySpec(anything),
    }
)
