"""Host names of a test, which lead to servers on loopback on their default ports, with http and https.

While it is entered, connections of this process to these names are redirected, and new TLS contexts trust the
authority of the test run. So does a Chromium that Profile.chromium() launches. All other names are resolved as ever.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final
from unittest.mock import patch

from hatbox.profile import Profile
from hatbox.testing.certificates import test_authority

__all__ = ["HostNames"]

_LOOPBACK: Final = "127.0.0.1"
_DISABLE: Final = "--disable-features="


class HostNames:
    """Host names and the ports on loopback to which their default ports, 80 and 443, lead."""

    def __init__(self, ports: Mapping[int, int]) -> None:
        self._ports = ports
        self._names: set[str] = set()
        self._patches = ExitStack()
        self._changes_flags = False

    def add(self, names: Iterable[str]) -> None:
        """Redirect further names."""
        self._names.update(name.lower() for name in names)

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._names

    @property
    def chromium_arguments(self) -> list[str]:
        """Arguments with which Chromium resolves these names alike, and trusts the authority."""
        rules = [
            f"MAP {name}:{port} {_LOOPBACK}:{to}" for name in sorted(self._names) for port, to in self._ports.items()
        ]
        return [
            f"--host-resolver-rules={','.join(rules)}",
            f"--ignore-certificate-errors-spki-list={test_authority().key_hash}",
        ]

    def __enter__(self) -> HostNames:
        import httpcore

        replaced: list[tuple[Any, str, Callable[[Any], Any]]] = [
            (socket, "getaddrinfo", self._getaddrinfo),
            (httpcore.AnyIOBackend, "connect_tcp", self._connect),
            (httpcore.SyncBackend, "connect_tcp", self._connect),
            (ssl, "create_default_context", self._trusting),
            (Profile, "chromium", self._chromium),
        ]
        for target, name, change in replaced:
            self._patches.enter_context(patch.object(target, name, change(getattr(target, name))))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._patches.close()

    def _target(self, host: Any, port: Any) -> tuple[Any, Any]:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if not isinstance(name, str) or name not in self:
            return host, port
        return _LOOPBACK, self._ports.get(int(port or 0), port)

    def _getaddrinfo(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
            return original(*self._target(host, port), *args, **options)

        return getaddrinfo

    def _connect(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def connect_tcp(backend: Any, host: str, port: int, *args: Any, **options: Any) -> Any:
            return original(backend, *self._target(host, port), *args, **options)

        return connect_tcp

    def _chromium(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def chromium(profile: Profile, **options: Any) -> Any:
            from hatbox.engines.chromium import launch  # imports Playwright

            if not self._changes_flags:
                self._patches.enter_context(patch.object(launch, "flags", self._flags(launch.flags)))
                self._changes_flags = True
            return original(profile, **options)

        return chromium

    def _flags(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def flags(**options: Any) -> tuple[list[str], list[str]]:
            arguments, ignored = original(**options)
            # Chromium would load http: pages with https:, because the site serves both.
            changed = [f"{each},HttpsUpgrades" if each.startswith(_DISABLE) else each for each in arguments]
            return [*changed, *self.chromium_arguments], ignored

        return flags

    def _trusting(self, original: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
        def create_default_context(*args: Any, **options: Any) -> ssl.SSLContext:
            context = original(*args, **options)
            context.load_verify_locations(cadata=test_authority().pem)
            return context

        return create_default_context
