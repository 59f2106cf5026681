"""The messages of an extension: reads `_locales/<language>/messages.json` as Firefox does.

A language is a BCP 47 tag, such as `pt-BR`. Its folder may be named `pt_BR`.
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
_MAX_LENGTH: Final = 2**20  # characters of a message: placeholders could expand to gigabytes
_SUBSTITUTION: Final = re.compile(r"\$(?:([1-9][0-9]*)|(\$+))")


def read_locales(
    package: Package,
    default_locale: str | None = None,
    languages: Sequence[str] = ("en-US",),
    uuid: str = "",
    *,
    check_all: bool = True,
) -> Locales:
    """Read the messages of a package for a user with these languages, the preferred one first.

    Raises ManifestError if default_locale does not match the folders, or a file is invalid. With `check_all`, as when
    Firefox installs an extension, files of all languages are checked. A missing `_locales` is allowed: some extensions
    store their messages in another repository.
    """
    folders = _folders(package)
    default = default_locale.replace("_", "-") if default_locale else None
    if default is None and folders:
        remedy = f'Add, for example, "default_locale": "{next(iter(folders.values()))}".'
        raise ManifestError("manifest.json", "default_locale", f"it is missing, but {_FOLDER}/ exists", remedy)
    if default is not None and folders and default not in folders:
        problem = f"{_FOLDER}/{default_locale}/messages.json does not exist"
        raise ManifestError("manifest.json", "default_locale", problem, "Add the file, or name another language.")
    chosen = closest(languages, tuple(folders), default)
    # Only those with a folder: a tag with thousands of parts has thousands of prefixes.
    matching = (each for each in variations(chosen) if each in folders) if chosen and folders else ()
    order = dict.fromkeys([*matching, default]) if chosen and default else {}
    messages = {
        language: _read(package, f"{_FOLDER}/{folder}/messages.json")
        for language, folder in folders.items()
        if check_all or language in order
    }
    chain = [messages[language] for language in order if language in messages]
    return Locales(chain, languages, uuid, available=tuple(folders))


class Locales:
    """The messages for one user. The first file that has a message wins."""

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
        # Lowest priority first: a file may override the writing direction, but not the id.
        self._messages: dict[str, str] = _directions(self.ui_language)
        for messages in reversed(chain):
            self._messages |= messages
        self._messages["@@extension_id"] = uuid

    def message(self, name: str, substitutions: Any = ()) -> str:
        """The result of i18n.getMessage(). Names are case-insensitive; an unknown name gives an empty string.

        The substitutions for $1, $2, … are a list, or one value.
        """
        return self._message(name, substitutions, "")

    def localize(self, text: str) -> str:
        """Replace each `__MSG_name__` by its message. Unknown names stay.

        Raises ManifestError if the result is too long.
        """
        return _replaced(_MESSAGE, lambda found: self._message(found[1], (), found[0]), text, ("manifest.json", ""))

    def for_runtime(self) -> dict[str, Any]:
        """The data for i18n in JavaScript: names in lower case, `$1` and `$$` not replaced."""
        return {
            "messages": dict(self._messages),
            "uiLanguage": self.ui_language,
            "acceptLanguages": list(self.languages),
        }

    def _message(self, name: str, substitutions: Any, otherwise: str) -> str:
        text = self._messages.get(name.lower())
        if text is None:
            return otherwise
        values = substitutions if isinstance(substitutions, (list, tuple)) else [substitutions]

        def replace(found: re.Match[str]) -> str:
            if found[1] is None:
                return found[2]  # one dollar less
            index = int(found[1]) - 1 if len(found[1]) < 10 else len(values)
            return _as_text(values[index]) if index < len(values) else ""

        return _SUBSTITUTION.sub(replace, text)


def _folders(package: Package) -> dict[str, str]:
    """The folder of each language."""
    found = (name.split("/") for name in package.names(_FOLDER))
    return {parts[1].replace("_", "-"): parts[1] for parts in found if len(parts) > 2}


def _read(package: Package, file: str) -> dict[str, str]:
    contents = package.read_limited(file, MAX_BYTES)
    if contents is None:
        raise ManifestError(file, "", "the file does not exist", "Add it, or remove its folder.")
    messages = parse_json(file, contents)
    if not isinstance(messages, dict):
        raise ManifestError(file, "", "it is not an object", 'Write messages as {"name": {"message": "text"}}.')
    return {name.lower(): _text(file, name, message) for name, message in messages.items()}


def _text(file: str, name: str, message: Any) -> str:
    """The text of one message with its placeholders replaced."""
    text = message.get("message") if isinstance(message, dict) else None
    if not isinstance(text, str):
        raise ManifestError(file, name, "it has no text", 'Write messages as {"name": {"message": "text"}}.')
    written = message.get("placeholders")
    placeholders = {key.lower(): value for key, value in written.items()} if isinstance(written, dict) else {}

    def replace(found: re.Match[str]) -> str:
        placeholder = placeholders.get(found[1].lower())
        if isinstance(placeholder, dict) and "content" in placeholder:
            return _as_text(placeholder["content"])
        return ""

    return _replaced(_PLACEHOLDER, replace, text, (file, name))


def _replaced(
    pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str, location: tuple[str, str]
) -> str:
    """Replace the matches of a pattern, up to the maximum length."""
    left = _MAX_LENGTH

    def counted(found: re.Match[str]) -> str:
        nonlocal left
        replacement = replace(found)
        left -= len(replacement)
        if left < 0:
            raise ManifestError(*location, f"its text is longer than {_MAX_LENGTH} characters", "Make it shorter.")
        return replacement

    return pattern.sub(counted, text)


def _as_text(value: Any) -> str:
    """The result of JavaScript's String()."""
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
