"""The Content-Security-Policy header of extension pages. Pure text.

Hash sources are removed, and page_files.py serves the inline scripts that they allow as files: in a sandboxed `srcdoc`
frame with a process of its own, an inline script would run before the script that removes WebRTC.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["page_policies", "script_hashes"]

# Firefox's defaults, and the policies that it applies besides that of the manifest. In version 2 without
# 'unsafe-inline', because inline scripts with a hash are served as files.
_DEFAULT: Final = {2: "script-src 'self' 'wasm-unsafe-eval'", 3: "script-src 'self'; upgrade-insecure-requests"}
_BASE: Final = {
    2: "script-src 'self' https: http://localhost:* http://127.0.0.1:* blob: 'unsafe-eval' 'wasm-unsafe-eval'",
    3: "script-src 'self' 'wasm-unsafe-eval'",
}

_SELF: Final = re.compile(r"'self'", re.IGNORECASE)
_HASH: Final = re.compile(r"\s'(sha(?:256|384|512)-[^']*|nonce-[^']*)'", re.IGNORECASE)
_SCRIPTS: Final = re.compile(r"(?:^|;)\s*(script-src(?:-elem)?|default-src)(?=\s|;|$)", re.IGNORECASE)


def page_policies(manifest_version: int, policy: str | None, script_hash: str | None = None) -> list[str]:
    """The policies of a page. `script_hash` is the hash source of an inline script that Hatbox adds."""
    policies = [policy or _DEFAULT[manifest_version], _BASE[manifest_version]]
    return [_for_chromium(each, script_hash) for each in policies]


def script_hashes(policy: str | None) -> frozenset[str]:
    """The hash sources of a policy, such as `sha256-…`."""
    return frozenset(_HASH.findall(policy or ""))


def _for_chromium(policy: str, script_hash: str | None) -> str:
    """Allow the scheme moz-extension wherever 'self' is allowed. Requests to other extensions are refused later."""
    policy = _HASH.sub("", policy.replace("\r", " ").replace("\n", " "))
    policy = _SELF.sub("'self' moz-extension:", policy)
    return policy if script_hash is None else _SCRIPTS.sub(rf"\g<0> '{script_hash}'", policy)
