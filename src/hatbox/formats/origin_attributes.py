"""Firefox's origin attributes: container and partition of a database row. Pure text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote

from hatbox.cookies.cookie import Partition

__all__ = ["OriginAttributes", "owner_of", "suffix_of"]

_NUMBER: Final = re.compile(r"[0-9]{1,10}")  # 32 bits
_PARTITION_KEY: Final = re.compile(r"\((?P<scheme>[a-z]+),(?P<host>[^,()]+)(?:,(?P<port>[0-9]+))?(?P<foreign>,f)?\)")


class OriginAttributes(NamedTuple):
    """A userContextId, 0 for the default store, and a partition."""

    number: int = 0
    partition: Partition | None = None


def owner_of(suffix: str) -> OriginAttributes | None:
    """Parse the attributes; None for those without an equivalent, such as private windows."""
    if not suffix:
        return OriginAttributes()
    if not suffix.startswith("^"):
        return None
    number, partition = 0, None
    fields = parse_qsl(suffix[1:], keep_blank_values=True)
    if len(dict(fields)) < len(fields):  # ambiguous: do not guess the owner of a cookie
        return None
    for name, value in fields:
        if name == "userContextId" and _NUMBER.fullmatch(value):
            number = int(value)
        elif name == "partitionKey" and (match := _PARTITION_KEY.fullmatch(value)):
            port = f":{match['port']}" if match["port"] else ""
            partition = Partition(f"{match['scheme']}://{match['host']}{port}", match["foreign"] is not None)
        else:
            return None
    return OriginAttributes(number, partition)


def suffix_of(owner: OriginAttributes) -> str:
    """Format the attributes for a row."""
    parts = [f"userContextId={owner.number}"] if owner.number else []
    if owner.partition is not None:
        scheme, _, place = owner.partition.top_level_site.partition("://")
        host, _, port = place.rpartition(":") if re.search(r":[0-9]+$", place) else (place, "", "")
        fields = [scheme, host, *([port] if port else []), *(["f"] if owner.partition.cross_site_ancestor else [])]
        parts.append(f"partitionKey={quote('(' + ','.join(fields) + ')', safe='')}")
    return "^" + "&".join(parts) if parts else ""
