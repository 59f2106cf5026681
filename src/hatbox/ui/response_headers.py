"""The security headers of all responses. Pure."""

from __future__ import annotations

import base64
import hashlib

__all__ = ["security_headers"]


def security_headers(host: str, *, sandboxed: bool = False, script: str = "") -> dict[str, str]:
    """The headers for a request with this Host, which was checked.

    A sandboxed document has an origin of its own. `script` is the only inline script that runs.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'" if script else "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": f"'self' ws://{host}",  # 'self' does not cover WebSockets in every browser
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
        **({"sandbox": ""} if sandboxed else {}),
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}".strip() for name, value in policy.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
