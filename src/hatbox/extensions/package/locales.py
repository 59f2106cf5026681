"""The texts of an extension in its languages: `_locales/<language>/messages.json`, as Firefox reads and finds them.

Knows nothing of manifests; a language is a BCP 47 tag, such as `pt-BR`, where a folder may be called `pt_BR`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hatbox.errors import ManifestError
from hatbox.extensions.package.json_text import MAX_BYTES, parse_json
from hatbox.extensions.package.language_tags import closest, is_right_to_left, variations
from hatbox.extensions.package.package_files import Package
from hatbox.javascript.text import stringify

__all__ = ["Locales", "read_locales"]

_FOLDER: Final = "_locales"
_MESSAGE: Final = re.compile(r"__MSG_([A-Za-z0-9@_]+?)__")
_PLACEHOLDER: Final = re.compile(r"\$([A-Za-z0-9@_]+)\$")
_LONGEST: Final = 2**20  # characters that a text may become: a few lines could say to write gigabytes
_SUBSTITUTION: Final = re.compile(r"\$(?:([1-9][0-9]*)|(\$+))")


def read_locales(
    package: Package,
    default_locale: str | None = None,
    languages: Sequence[str] = ("en-US",),
    uuid: str = "",
    *,
    check_all: bool = True,
) -> Locales:
    """The texts of a package for a user who speaks these languages, the preferred one first.

    ManifestError if the manifest's default_locale and the folders do not fit together, or a file is wrong; with
    `check_all`, as when Firefox installs an extension, also one that is not for this user. No folder at all is no
    error: some keep their texts in a repository of their own, and do without them while they are developed.
    """
    folders = _folders(package)
    default = default_locale.replace("_", "-") if default_locale else None
    if default is None and folders:
        remedy = f'Add, for example, "default_locale": "{next(iter(folders.values()))}".'
        raise ManifestError("manifest.json", "default_locale", f"it is missing, but there is {_FOLDER}/", remedy)
    if default is not None and folders and default not in folders:
        problem = f"there is no {_FOLDER}/{default_locale}/messages.json"
        raise ManifestError("manifest.json", "default_locale", problem, "Add the file, or name another language.")
    chosen = closest(languages, tuple(folders), default)
    # Those with a folder only: of a tag with thousands of parts there are thousands of shorter ones.
    fitting = (each for each in variations(chosen) if each in folders) if chosen and folders else ()
    order = dict.fromkeys([*fitting, default]) if chosen and default else {}
    texts = {
        language: _read(package, f"{_FOLDER}/{folder}/messages.json")
        for language, folder in folders.items()
        if check_all or language in order
    }
    chain = [texts[language] for language in order if language in texts]
    return Locales(chain, languages, uuid, available=tuple(folders))


class Locales:
    """The texts that a user sees: of several files, those of the first that has them."""

    def __init__(
        self,
        chain: Sequence[Mapping[str, str]],
        languages: Sequence[str] = ("en-US",),
        uuid: str = "",
        available: tuple[str, ...] = (),
    ) -> None:
        self.available = available
        self.ui_language = languages[0] if languages else "en-US"
        self.languages = tuple(languages)
        # Least important first: a file may override what is said about the direction of writing, but not the id.
        self._texts: dict[str, str] = _directions(self.ui_language)
        for texts in reversed(chain):
            self._texts |= texts
        self._texts["@@extension_id"] = uuid

    def message(self, name: str, substitutions: Any = ()) -> str:
        """What i18n.getMessage() says: the text of this name, whatever its case, and nothing if there is none.

        The substitutions for $1, $2, … are a list, or one that stands alone.
        """
        return self._message(name, substitutions, "")

    def localize(self, text: str) -> str:
        """The text with the message in place of each `__MSG_name__`; one that there is not is left as it stands.

        ManifestError if that makes it longer than any text of a manifest can be.
        """
        return _replaced(_MESSAGE, lambda found: self._message(found[1], (), found[0]), text, ("manifest.json", ""))

    def for_runtime(self) -> dict[str, Any]:
        """All that JavaScript needs to say the same: names are in lower case; `$1` and `$$` are left to replace."""
        return {"messages": dict(self._texts), "uiLanguage": self.ui_language, "acceptLanguages": list(self.languages)}

    def _message(self, name: str, substitutions: Any, otherwise: str) -> str:
        text = self._texts.get(name.lower())
        if text is None:
            return otherwise
        given = substitutions if isinstance(substitutions, (list, tuple)) else [substitutions]

        def replace(found: re.Match[str]) -> str:
            if found[1] is None:
                return found[2]  # of several dollars, all but the first
            index = int(found[1]) - 1 if len(found[1]) < 10 else len(given)
            return _as_text(given[index]) if index < len(given) else ""

        return _SUBSTITUTION.sub(replace, text)


def _folders(package: Package) -> dict[str, str]:
    """Each language, and the folder that it is in."""
    found = (name.split("/") for name in package.names(_FOLDER))
    return {parts[1].replace("_", "-"): parts[1] for parts in found if len(parts) > 2}


def _read(package: Package, file: str) -> dict[str, str]:
    contents = package.read_limited(file, MAX_BYTES)
    if contents is None:
        raise ManifestError(file, "", "there is no such file", "Add it, or remove its folder.")
    messages = parse_json(file, contents)
    if not isinstance(messages, dict):
        raise ManifestError(file, "", "it is not an object", 'Write messages as {"name": {"message": "text"}}.')
    return {name.lower(): _text(file, name, message) for name, message in messages.items()}


def _text(file: str, name: str, message: Any) -> str:
    """The text of one message, with what its placeholders stand for."""
    text = message.get("message") if isinstance(message, dict) else None
    if not isinstance(text, str):
        raise ManifestError(file, name, "it has no text", 'Write messages as {"name": {"message": "text"}}.')
    given = message.get("placeholders")
    placeholders = {key.lower(): value for key, value in given.items()} if isinstance(given, dict) else {}

    def replace(found: re.Match[str]) -> str:
        placeholder = placeholders.get(found[1].lower())
        if isinstance(placeholder, dict) and "content" in placeholder:
            return _as_text(placeholder["content"])
        return ""

    return _replaced(_PLACEHOLDER, replace, text, (file, name))


def _replaced(
    pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str, place: tuple[str, str]
) -> str:
    """The text with what `replace` says for what a pattern finds, unless that is too much."""
    left = _LONGEST

    def counted(found: re.Match[str]) -> str:
        nonlocal left
        replacement = replace(found)
        left -= len(replacement)
        if left < 0:
            raise ManifestError(*place, f"its text is longer than {_LONGEST} characters", "Make it shorter.")
        return replacement

    return pattern.sub(counted, text)


def _as_text(value: Any) -> str:
    """What JavaScript's String() makes of a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ",".join("" if item is None else _as_text(item) for item in value)
    return "[object Object]" if isinstance(value, Mapping) else stringify(value)


def _directions(language: str) -> dict[str, str]:
    start, end = ("rtl", "ltr") if is_right_to_left(language) else ("ltr", "rtl")
    edges = {"ltr": "left", "rtl": "right"}
    return {
        "@@ui_locale": language,
        "@@bidi_dir": start,
        "@@bidi_reversed_dir": end,
        "@@bidi_start_edge": edges[start],
        "@@bidi_end_edge": edges[end],
    }
