"""Registers the HTTP engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from hatbox.clients.identity_binding import require_extra
from hatbox.engines.runner import EngineRunner
from hatbox.engines.selection import EngineSelection

if TYPE_CHECKING:
    from hatbox.engines.registry import EngineServices
    from hatbox.identity.model import IdentityLike

__all__ = ["DISPLAY_NAME", "HAS_WINDOWS", "create", "create_http"]

DISPLAY_NAME: Final = "the HTTP engine"
HAS_WINDOWS: Final = False


def create(services: EngineServices, selection: EngineSelection) -> EngineRunner:
    """The HTTP engine with default limits."""
    return create_http(services, {}, {}, selection.identities)


def create_http(
    services: EngineServices,
    limits: dict[str, Any],
    options: dict[str, Any],
    identities: IdentityLike | Sequence[IdentityLike] | None = None,
) -> EngineRunner:
    """The HTTP engine with these LoadLimits, and options of httpx.AsyncClient."""
    with require_extra("httpx"):
        from hatbox.engines.http.http_engine import HttpEngine, LoadLimits
        from hatbox.engines.navigation_rules import NavigationRules
    rules = NavigationRules(services.store, services.rules)
    engine = HttpEngine(
        services.identities,
        services.cookies,
        LoadLimits(**limits),
        options,
        services.web_requests,
        services.read_extension_file,
        rules,
    )
    runner = EngineRunner(engine, services.store, identities)
    rules.serves = runner.serves
    return runner
