"""The site assignments of Multi-Account Containers: its `storage.local` as a JSON object.

    siteContainerMap@@_<host><port>      {"userContextId": "2", "neverAsk": true, …}
    identitiesState@@_<cookieStoreId>    {"isIsolated": "locked", …}: the container is limited to its sites
    identity@@_<uuid>                    {"name", "icon", "color"}: in the synchronized copy

An assignment is for one host, without subdomains. The port follows the host without a colon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from hatbox.cookies.public_suffixes import SuffixList
from hatbox.errors import InvalidInputFile, NoContainerNames
from hatbox.formats.base import decode_json
from hatbox.formats.containers_json import Containers
from hatbox.formats.input_files import read_input_file
from hatbox.formats.rule_bundle import ContainerReference, ImportedRule, RuleBundle, SkippedRule
from hatbox.identity.ids import container_user_context_id, cookie_store_id_of
from hatbox.urls.hosts import canonical_host, is_ip

__all__ = ["MAC_EXTENSION", "mac_rules", "read_mac_file", "read_mac_folder"]

MAC_EXTENSION: Final = "@testpilot-containers"
"""The id of the extension."""

_STORAGE: Final = Path("browser-extension-data") / MAC_EXTENSION / "storage.js"
_CONTAINERS: Final = "containers.json"
_SITE: Final = "siteContainerMap@@_"
_STATE: Final = "identitiesState@@_"
_SYNCED: Final = "identity@@_"
_NAME_AND_PORT: Final = re.compile(r"(.*[^0-9.])([1-9][0-9]{0,4})", re.DOTALL)
# Names without a public suffix that never end in digits: reserved (RFC 6761, 6762, 7686), or private (ICANN, 2024).
_RESERVED_NAMES: Final = frozenset({"example", "internal", "invalid", "lan", "local", "localhost", "onion", "test"})
_MAX_PORT: Final = 65535
_HOW_TO_EXPORT: Final = (
    "In Firefox, open about:debugging, This Firefox, Inspect the extension, run "
    "JSON.stringify(await browser.storage.local.get()) in its console, and save the result"
)

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def read_mac_file(data: bytes, source: str, containers: bytes | None = None) -> RuleBundle:
    """Read a JSON file. `containers` is the containers.json of the same Firefox profile, which has the names."""
    storage = decode_json(_decode, data.removeprefix(b"\xef\xbb\xbf"), source)
    labels = Containers(containers, _CONTAINERS).labels if containers is not None else {}
    known = {number: ContainerReference(label.name, label.icon, label.color) for number, label in labels.items()}
    if not known and not any(key.startswith(_SYNCED) for key in storage) and _has_data(storage):
        raise NoContainerNames(source)
    return mac_rules(storage, known, source)


def read_mac_folder(folder: Path) -> RuleBundle:
    """Read the profile folder of a Firefox that still has the extension's data in a file."""
    storage, containers = folder / _STORAGE, folder / _CONTAINERS
    try:
        return read_mac_file(read_input_file(storage), str(storage), read_input_file(containers))
    except FileNotFoundError as error:
        raise InvalidInputFile(
            str(error.filename),
            "file not found. Firefox 66 or later stores the assignments in a database that Hatbox cannot read. "
            f"{_HOW_TO_EXPORT}. Then import that file with --containers",
        ) from error


def _has_data(storage: Mapping[str, Any]) -> bool:
    return any(key.startswith((_SITE, _STATE, _SYNCED)) for key in storage)


def mac_rules(storage: Mapping[str, Any], known: Mapping[int, ContainerReference] | None, source: str) -> RuleBundle:
    """The rules in the storage of the extension. `known`: containers by number; None if the ids are of this profile."""
    assignments = {key: value for key, value in storage.items() if key.startswith(_SITE)}
    if not _has_data(storage):
        raise InvalidInputFile(source, "no data of Multi-Account Containers found")
    isolated = set(_isolated(storage))
    rules: list[ImportedRule] = []
    skipped: list[SkippedRule] = []
    for key, value in assignments.items():
        site = key.removeprefix(_SITE)
        pattern = _pattern_of(site)
        number = _number_of(value)
        container = _container_of(value, number, known, storage)
        if pattern is None:
            skipped.append(SkippedRule(site, "it is unclear where the host ends and the port starts"))
        elif container is None:
            skipped.append(SkippedRule(site, "its container does not exist in the file"))
        else:
            rules.append(ImportedRule(site, pattern, container, limit=number in isolated))
    assigned = {_number_of(value) for value in assignments.values()}
    for number in sorted(isolated - assigned):
        name = known[number].name if known and number in known else cookie_store_id_of(number)
        skipped.append(SkippedRule(name, "the container is limited to its sites, but no site is assigned to it"))
    return RuleBundle(tuple(rules), tuple(skipped))


def _isolated(storage: Mapping[str, Any]) -> Iterable[int]:
    for key, value in storage.items():
        if key.startswith(_STATE) and isinstance(value, dict) and value.get("isIsolated"):
            number = container_user_context_id(key.removeprefix(_STATE))
            if number is not None:
                yield number


def _number_of(value: object) -> int:
    """The userContextId of an assignment, which is stored as text or as a number; 0 if it is invalid."""
    text = str(value.get("userContextId", "")) if isinstance(value, dict) else ""
    return container_user_context_id(f"firefox-container-{text}") or 0


def _container_of(
    value: object, number: int, known: Mapping[int, ContainerReference] | None, storage: Mapping[str, Any]
) -> ContainerReference | None:
    if known is None:
        return ContainerReference(cookie_store_id=cookie_store_id_of(number)) if number else None
    if number in known:
        return known[number]
    uuid = value.get("identityMacAddonUUID") if isinstance(value, dict) else None
    synced = storage.get(f"{_SYNCED}{uuid}")
    if isinstance(synced, dict) and isinstance(synced.get("name"), str):
        return ContainerReference(synced["name"], str(synced.get("icon", "")), str(synced.get("color", "")))
    return None


def _pattern_of(site: str) -> str | None:
    """The pattern for `host` or `hostport`; None if both are possible.

    No top-level name has digits at its end, so after one they are a port. `server2` may be a host of an intranet.
    """
    if site.startswith("["):
        host, bracket, port = site.partition("]")
        return _with_port(host + bracket, port) if bracket else None
    canonical = canonical_host(site)
    if canonical and is_ip(canonical):
        return canonical
    candidates = _split_ipv4(site) if site[:1].isdigit() and site.replace(".", "").isdigit() else []
    if candidates:
        return candidates[0] if len(candidates) == 1 else None
    match = _NAME_AND_PORT.fullmatch(site)
    if match is None:
        return _with_port(site, "")
    return _with_port(match[1], match[2]) if _has_known_end(match[1]) else None


def _has_known_end(name: str) -> bool:
    """Whether the last label of a name is a top-level name."""
    last = (canonical_host(name) or "").rpartition(".")[2]
    # Some top-level names, such as bd, are in the list only with a label before them.
    return bool(last) and (last in _RESERVED_NAMES or _suffix_list().publicsuffix(f"x.{last}") is not None)


@cache
def _suffix_list() -> SuffixList:
    from publicsuffixlist import PublicSuffixList  # takes 50 ms to load

    found: SuffixList = PublicSuffixList(accept_unknown=False)
    return found


def _with_port(host: str, port: str) -> str | None:
    if not canonical_host(host) or (port and (not port.isdigit() or int(port) > _MAX_PORT)):
        return None
    return f"{host}:{port}" if port else host


def _split_ipv4(site: str) -> list[str]:
    """All ways to read digits as an IPv4 address and a port. The extension omits ports 80 and 443."""
    found = []
    for length in range(1, 6):
        host, port = site[:-length], site[-length:]
        is_port = port.isdigit() and port[0] != "0" and port not in ("80", "443") and int(port) <= _MAX_PORT
        if is_port and host.count(".") == 3 and canonical_host(host) == host:
            found.append(f"{host}:{port}")
    return found
