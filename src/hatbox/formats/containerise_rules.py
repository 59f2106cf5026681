"""The rules of Containerise: lines of text, or its `storage.local` as a JSON object.

    site.example , Work              a host: every path and port
    *.site.example/path , Work       a host with its subdomains; a path with everything below it
    !*.site.example , Work           a glob, searched in the URL
    @.+[.]site[.]example$ , Work     a regular expression, searched in the URL
    # …                              a comment

In JSON: `map=<pattern>`: {"host", "containerName", "cookieStoreId", "enabled"}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from hatbox.errors import InvalidInputFile, InvalidSiteRule
from hatbox.formats.base import decode_json
from hatbox.formats.rule_bundle import ContainerReference, ImportedRule, RuleBundle, SkippedRule
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.site_rules.site_pattern import REGEX_PREFIX, parse_site_pattern

__all__ = ["CONTAINERISE_EXTENSION", "containerise_rules", "read_containerise_file"]

CONTAINERISE_EXTENSION: Final = "containerise@kinte.sh"
"""The id of the extension."""

_MAP: Final = "map="
_DOMAIN_ONLY: Final = "pref=matchDomainOnly"
_NO_CONTAINER: Final = "no container"
_HOST_GLOB: Final = re.compile(r"\*\.?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?:/\*?|\*)?")
_BOM: Final = b"\xef\xbb\xbf"

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def read_containerise_file(data: bytes, source: str) -> RuleBundle:
    """Read a file: JSON if it starts with a brace, else lines of text."""
    data = data.removeprefix(_BOM)
    if data.lstrip()[:1] == b"{":
        return containerise_rules(decode_json(_decode, data, source), source, same_profile=False)
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInputFile(source, "not UTF-8 text", data[: error.start].count(b"\n") + 1) from error
    rules: list[ImportedRule] = []
    skipped: list[SkippedRule] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, comma, name = line.rpartition(",")
        if not comma or not pattern.strip() or not name.strip():
            raise InvalidInputFile(source, f'expected "pattern , container": {line[:80]!r}', number)
        _translate(pattern.strip(), _container(name.strip()), rules, skipped)
    return RuleBundle(tuple(rules), tuple(skipped))


def containerise_rules(storage: Mapping[str, Any], source: str, *, same_profile: bool) -> RuleBundle:
    """The rules in the storage of the extension. `same_profile`: its cookieStoreIds are those of this profile."""
    rules: list[ImportedRule] = []
    skipped: list[SkippedRule] = []
    maps = {key: value for key, value in storage.items() if key.startswith(_MAP)}
    if not maps and not any(key.startswith("pref=") for key in storage):
        raise InvalidInputFile(source, "no data of Containerise found")
    for key, value in maps.items():
        pattern = key.removeprefix(_MAP)
        details = value if isinstance(value, dict) else {}
        name, store = str(details.get("containerName") or ""), str(details.get("cookieStoreId") or "")
        if details.get("enabled") is False:
            skipped.append(SkippedRule(pattern, "it is disabled"))
        elif same_profile and store:
            _translate(pattern, ContainerReference(name, cookie_store_id=store), rules, skipped)
        elif name.strip():
            _translate(pattern, _container(name.strip()), rules, skipped)
        else:
            skipped.append(SkippedRule(pattern, "it names no container"))
    if _is_on(storage.get(_DOMAIN_ONLY)):
        skipped.append(SkippedRule("Match domain only", "the preference is not supported: paths are compared"))
    return RuleBundle(tuple(rules), tuple(skipped))


def _is_on(preference: object) -> bool:
    return bool(preference.get("value")) if isinstance(preference, dict) else preference is True


def _container(name: str) -> ContainerReference:
    if name.casefold() == _NO_CONTAINER:
        return ContainerReference(name, cookie_store_id=DEFAULT_COOKIE_STORE_ID)
    return ContainerReference(name)


def _translate(
    source: str, container: ContainerReference, rules: list[ImportedRule], skipped: list[SkippedRule]
) -> None:
    """Translate a pattern, completely or not at all."""
    try:
        translated = [parse_site_pattern(each).text for each in _patterns(source)]
    except InvalidSiteRule as error:
        skipped.append(SkippedRule(source, error.problem))
        return
    rules.extend(ImportedRule(source, pattern, container) for pattern in dict.fromkeys(translated))


def _patterns(source: str) -> Iterator[str]:
    kind, rest = source[:1], source[1:]
    if kind == "@":
        yield REGEX_PREFIX + rest
    elif kind == "!":
        host = _HOST_GLOB.fullmatch(rest)
        yield f"*.{host[1]}" if host else REGEX_PREFIX + _glob_expression(rest)
    else:
        host_text, _, path = source.partition("/")
        path = path.removesuffix("*").strip("/")
        if not path:
            yield host_text
        else:  # whole segments: /path, /path?query and /path/…, but not /pathology
            yield from (f"{host_text}/{path}", f"{host_text}/{path}?*", f"{host_text}/{path}/*")


def _glob_expression(glob: str) -> str:
    """A glob as a regular expression: `*` is any text, `?` at most one character."""
    return "".join({"*": ".*", "?": ".?"}.get(each, re.escape(each)) for each in glob)
