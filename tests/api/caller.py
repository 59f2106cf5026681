"""An extension that calls, without any of its scripts: for tests of what only extensions have."""

from __future__ import annotations

from collections.abc import Iterable

from hatbox import Profile
from hatbox.api.browser import Browser
from hatbox.api.caller import ExtensionCaller
from hatbox.extension_data.extension_permissions import ExtensionPermissions, Permissions, is_host_pattern

UUID = "3c079a9e-0c5c-4d0b-8a4e-2d9f7b0c5a11"


def split(names: Iterable[str]) -> Permissions:
    """Names of permissions and match patterns, apart."""
    every = list(names)
    return Permissions(
        tuple(name for name in every if not is_host_pattern(name)),
        tuple(name for name in every if is_host_pattern(name)),
    )


def extension_caller(
    permissions: Iterable[str] = (), extension_id: str = "test@example.org", optional: Iterable[str] = ()
) -> ExtensionCaller:
    grants = ExtensionPermissions(split(permissions), split(optional))
    return ExtensionCaller(extension_id, UUID, {}, grants)


def extension_browser(
    profile: Profile, permissions: Iterable[str] = (), extension_id: str = "test@example.org"
) -> Browser:
    """`browser` as an extension with these permissions sees it."""
    return Browser(profile._dispatcher, extension_caller(permissions, extension_id))
