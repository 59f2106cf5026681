"""The formats and postprocessors that the schema of the manifest names, as in Firefox 153. Reads no files."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final

from hatbox.extension_data import permission_names
from hatbox.extension_data.extension_permissions import is_host_pattern
from hatbox.extensions.package.extension_ids import is_extension_id
from hatbox.extensions.package.extension_urls import absolute_url, is_relative
from hatbox.extensions.package.manifest_messages import describe, invalid, shown
from hatbox.schema.documents import Convert, Document, Warnings
from hatbox.urls.url import parse_url

__all__ = ["MANIFEST_DOCUMENT", "UNSAFE_EVAL", "UrlString", "is_shortcut", "resolve_urls", "script_sources"]

UNSAFE_EVAL: Final = "'unsafe-eval'"

_MAX_SUGGESTIONS: Final = 100  # a comparison with all names is slow
_REFUSED_SCHEMES: Final = frozenset(
    {"about", "blob", "chrome", "data", "file", "javascript", "moz-extension", "resource", "view-source"}
)
_PATTERN_HELP: Final = 'Write a match pattern, such as "https://*.site.example/*".'
_MEDIA_KEYS: Final = frozenset({"MediaNextTrack", "MediaPlayPause", "MediaPrevTrack", "MediaStop"})
_FUNCTION: Final = re.compile(r"F([1-9]|1[0-2])")
_USER_FUNCTION: Final = re.compile(r"F(1?[1-9]|10)")
_SHORTCUT_KEY: Final = re.compile(
    r"[A-Z0-9]|Comma|Period|Home|End|PageUp|PageDown|Space|Insert|Delete|Up|Down|Left|Right", re.ASCII
)
# Ctrl and Command are the same modifier, which may occur once.
_MODIFIERS: Final = {
    "Alt": "alt",
    "Command": "accel",
    "Ctrl": "accel",
    "MacCtrl": "control",
    "Shift": "shift",
}


def is_shortcut(text: str, *, by_user: bool = False) -> bool:
    """Whether the text is a shortcut such as Ctrl+Shift+Y. A user may also choose F13 to F19."""
    if text.strip() in _MEDIA_KEYS:
        return True
    *names, key = (part.strip() for part in text.split("+"))
    modifiers = [_MODIFIERS.get(name) for name in names]
    is_function = (_USER_FUNCTION if by_user else _FUNCTION).fullmatch(key) is not None
    if None in modifiers or len(set(modifiers)) < len(modifiers) or len(modifiers) > 2:
        return False
    return is_function or (modifiers not in ([], ["shift"]) and _SHORTCUT_KEY.fullmatch(key) is not None)


class UrlString(str):
    """A URL relative to the extension, as written in the manifest."""

    __slots__ = ()


def resolve_urls(value: Any, base_url: str) -> Any:
    """A copy with absolute URLs below `base_url`, as scripts see it."""
    if isinstance(value, UrlString):
        return absolute_url(value, base_url)
    if isinstance(value, dict):
        return {name: resolve_urls(member, base_url) for name, member in value.items()}
    return [resolve_urls(item, base_url) for item in value] if isinstance(value, list) else value


def script_sources(policy: str) -> frozenset[str] | None:
    """The script-src of a content security policy in lower case, or its default-src; None without both."""
    directives = _directives(policy)
    return directives.get("script-src", directives.get("default-src"))


def _directives(policy: str) -> dict[str, frozenset[str]]:
    """The sources by directive, in lower case. As in browsers, the first directive of a name counts."""
    found: dict[str, frozenset[str]] = {}
    for part in policy.lower().replace(",", " ").split(";"):  # a comma ends the policy in a header
        if words := part.split():
            found.setdefault(words[0], frozenset(words[1:]))
    return found


def _text(accept: Callable[[str], bool], problem: str, remedy: str) -> Convert:
    """Text that a function accepts. `problem` follows the value in the message."""

    def check(value: str, _: Warnings) -> str:
        if accept(value):
            return value
        raise invalid(f"{shown(value)} {problem}", remedy)

    return check


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value) is not None


def _permission(allowed: frozenset[str], *, hosts: bool = False) -> Convert:
    """The name of a permission or, with `hosts`, a match pattern."""

    def check(value: str, warnings: Warnings) -> str:
        if value in allowed or (hosts and _is_pattern(value)) or _is_experiment(value):
            return value
        raise invalid(
            f"{shown(value)} {_why_not(value, allowed, suggest=len(warnings) < _MAX_SUGGESTIONS)}", "Remove it."
        )

    return check


def _why_not(value: str, allowed: frozenset[str], *, suggest: bool) -> str:
    if is_host_pattern(value):
        return "is a match pattern, which belongs in host_permissions"
    if value in permission_names.REQUIRED:
        return "cannot be optional"
    if value in permission_names.ALONE:
        return "can only be optional"
    near = get_close_matches(value[:100], allowed, 1) if suggest else []
    return f'is not a known permission (did you mean "{near[0]}"?)' if near else "is not a known permission"


def _is_experiment(value: str) -> bool:
    return re.fullmatch(r"experiments(\.\w+)+", value, re.ASCII) is not None


def _is_pattern(value: str) -> bool:
    """Whether Firefox's schema accepts a match pattern, even if no extension gets the permission."""
    return is_host_pattern(value) or re.match(r"resource://(\*|\*\.[^*/]+|[^*/]+)/|about:", value) is not None


def _is_web_url(value: str) -> bool:
    return re.match(r"https?://[^/?#]|(?!https?:)[a-z][a-z0-9+.\-]*:", value, re.ASCII | re.IGNORECASE) is not None


def _web_url(value: str, warnings: Warnings) -> str:
    _text(_is_web_url, "is not a whole URL", "Write one that starts with https://.")(value, warnings)
    return f"{value}/" if re.fullmatch(r"https?://[^/?#]+", value, re.ASCII | re.IGNORECASE) else value


def _url(value: str, _: Warnings) -> str:
    return UrlString(value) if is_relative(value) else value


def _popup_url(value: str, warnings: Warnings) -> str:
    """A URL that Firefox lets an extension load. Only pages of the extension are displayed."""
    scheme, colon, _ = value.strip().partition(":")
    if is_relative(value) or not colon:
        return _url(value, warnings)
    if scheme.lower() in _REFUSED_SCHEMES and value.strip().lower() != "about:blank":
        raise invalid(
            f"{shown(value)} is not a page that extensions may show",
            "Name a file of the extension, such as popup.html.",
        )
    parsed = parse_url(value) if scheme.lower() in ("http", "https") else None
    return value if parsed is None else parsed.text


def _relative_url(value: str, _: Warnings) -> str:
    if is_relative(value):
        return UrlString(value)
    raise invalid(
        f"{shown(value)} is not in the extension", "Name a file of the extension, without https:// or the like."
    )


def _uri_template(value: str, warnings: Warnings) -> str:
    if is_relative(value):
        return UrlString(value)
    if re.match(r"https?:", value, re.IGNORECASE):
        parsed = parse_url(_web_url(value, warnings))
        return value if parsed is None else parsed.text
    raise invalid(
        f"{shown(value)} is neither a file of the extension nor a web page", "Write one such as /open.html#%s."
    )


def _icon(value: str, warnings: Warnings) -> str:
    if not value or value.isspace():
        raise invalid(f"{shown(value)} is not a file", "Name a file.")
    return _relative_url(value, warnings)


def _policy(*forbidden: str) -> Convert:
    """A content security policy that an extension may have."""

    def check(policy: str, _: Warnings) -> str:
        sources = script_sources(policy)
        if sources is None:
            raise invalid("it has no script-src", "Add script-src 'self'.")
        scripts = {name: each for name, each in _directives(policy).items() if name.startswith("script-src-")}
        for name, each in {"script-src": sources, **scripts}.items():
            if found := sorted(each.intersection(forbidden)):
                raise invalid(f"{found[0]} is not allowed in {name}", "Remove it.")
        return policy

    return check


def _version(value: str, warnings: Warnings) -> str:
    if not re.fullmatch(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){0,3}", value, re.ASCII):
        warnings.append(((), f"{shown(value)} is not one to four numbers with dots between them"))
    return value


def _incognito(value: str, warnings: Warnings) -> str:
    if value == "split":
        warnings.append(((), '"split" is not supported; it is read as "not_allowed"'))
        return "not_allowed"
    return value


def _data_permissions(found: list[str], warnings: Warnings) -> list[str]:
    if "none" in found and len(found) > 1:
        warnings.append(((), '"none" cannot be combined with others; it is ignored'))
        return [kind for kind in found if kind != "none"]
    return found


def _web_accessible_resources(entry: dict[str, Any], _: Warnings) -> dict[str, Any]:
    if entry["matches"] is None and entry["extension_ids"] is None:
        raise invalid('it has neither "matches" nor "extension_ids"', 'Add "matches", a list of match patterns.')
    return entry | {"resources": [f"/{resource.lstrip('/')}" for resource in entry["resources"]]}


def _background(found: dict[str, Any], warnings: Warnings) -> dict[str, Any] | None:
    if found["page"] is not None and found["scripts"] is not None:
        warnings.append((("scripts",), "page is set too; the scripts are ignored"))
    if found["scripts"] == []:
        warnings.append((("scripts",), "the list is empty"))
    if found["scripts"] is None and not found["page"] and not found["service_worker"]:
        warnings.append(((), 'it has none of "scripts", "page" and "service_worker"; it is ignored'))
        return None
    return found


# The schemes of protocol_handlers besides ext+name and web+name.
_PROTOCOLS: Final = frozenset(
    {
        "bitcoin",
        "dat",
        "dweb",
        "ftp",
        "geo",
        "gopher",
        "im",
        "ipfs",
        "ipns",
        "irc",
        "ircs",
        "magnet",
        "mailto",
        "matrix",
    }
    | {"mms", "news", "nntp", "sip", "sms", "smsto", "ssb", "ssh", "tel", "urn", "webcal", "wtai", "xmpp"}
)

_REQUIRED: Final = permission_names.REQUIRED | permission_names.PRIVILEGED

MANIFEST_DOCUMENT: Final = Document(
    file="manifest.json",
    formats={
        "relativeUrl": _relative_url,
        "url": _url,
        "popupUrl": _popup_url,
        "webUrl": _web_url,
        "icon": _icon,
        "matchPattern": _text(_is_pattern, "is not a match pattern", _PATTERN_HELP),
        "restrictedMatchPattern": _text(
            lambda value: is_host_pattern(value) and value != "<all_urls>",
            "is not a match pattern with a host",
            _PATTERN_HELP,
        ),
        "shortcut": _text(is_shortcut, "is not a key combination", "Write one such as Ctrl+Shift+Y, Alt+1 or F8."),
        "extensionId": _text(
            is_extension_id, "is not an id of an extension", "Write one such as name@site.example, or a UUID in braces."
        ),
        "extensionIdOrAny": _text(lambda value: value == "*" or is_extension_id(value), "is not an id", 'Write "*".'),
        "origin": _text(
            _matches("https?://[^/?#]+"), "is not an origin", "Write one such as https://site.example, without a path."
        ),
        "protocol": _text(
            lambda value: value in _PROTOCOLS or re.fullmatch(r"(ext|web)\+[a-z0-9.+\-]+", value) is not None,
            "is not a scheme that extensions may handle",
            "Write one that starts with ext+ or web+, in lower case.",
        ),
        "uriTemplate": _uri_template,
        "keyword": _text(_matches(r"[^?\s:][^\s:]*"), "is not one word", "Write a word without spaces and colons."),
        "exactVersion": _text(
            lambda value: "*" not in value.split("."), "contains *", "Name the first supported version."
        ),
        "version": _version,
        "policy": _policy("'unsafe-inline'"),
        "strictPolicy": _policy("'unsafe-inline'", UNSAFE_EVAL),
        "permission": _permission(_REQUIRED),
        "permissionOrHost": _permission(_REQUIRED, hosts=True),
        "optionalPermission": _permission(permission_names.OPTIONAL, hosts=True),
        "dataPermission": _permission(permission_names.DATA_COLLECTION | {"none"}),
        "optionalDataPermission": _permission(permission_names.OPTIONAL_DATA_COLLECTION),
    },
    postprocessors={
        "background": _background,
        "dataPermissions": _data_permissions,
        "incognito": _incognito,
        "webAccessibleResources": _web_accessible_resources,
    },
    describe=describe,
)
