"""Who calls the API, and what it may do. Knows no namespace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

from hatbox.extension_data.extension_permissions import ExtensionPermissions, Permissions
from hatbox.messaging.context import BACKGROUND_PAGE, ExtensionContext
from hatbox.schema import NamespaceSchema
from hatbox.urls.match_patterns import HostPermissions, host_permissions

__all__ = ["Caller", "ExtensionCaller", "Localization", "PermissionPrompt"]

PermissionPrompt: TypeAlias = Callable[[Permissions], Awaitable[bool]]
"""Whether an extension is to be given what it asks for: what a user would be asked."""


class Localization(Protocol):
    """The texts of an extension, in the user's language."""

    @property
    def ui_language(self) -> str:
        """The user's language."""

    @property
    def languages(self) -> Sequence[str]:
        """The languages that the user reads, the preferred one first."""

    def message(self, name: str, substitutions: Any) -> str:
        """The text of this name, and nothing if there is none."""


class Caller:
    """Who calls: an id, and the permissions that it holds. They may be granted and revoked while it lives.

    A permission is the name of one, or a match pattern: the permission for the hosts that it matches.
    """

    def __init__(self, caller_id: str, permissions: Iterable[str] = ()) -> None:
        self.id = caller_id
        """The data area: the name under which the profile stores its data."""
        self.extension_id = caller_id
        """The id that others see."""
        self.permissions = set(permissions)
        self.context = ExtensionContext(caller_id, "about:blank", "null", kind=None)
        """Where it is, for those whom it sends messages."""
        self.is_handling_user_input = False
        """Whether it is told, at this moment, of something that the user does: then it may ask."""

        self.active_tabs: dict[int, int] = {}
        """The tabs that the user has shown it, with `activeTab`; each with the load that has brought its page."""

    @contextmanager
    def handling_user_input(self) -> Iterator[None]:
        """For as long as it is told of something that the user does."""
        before, self.is_handling_user_input = self.is_handling_user_input, True
        try:
            yield
        finally:
            self.is_handling_user_input = before

    @property
    def hosts(self) -> HostPermissions:
        """The hosts that it has permission for, now."""
        return host_permissions(frozenset(self.permissions))

    def may_use(self, surface: NamespaceSchema) -> bool:
        """Whether it holds what a surface needs."""
        return surface.permissions <= self.permissions and not surface.for_extensions


class ExtensionCaller(Caller):
    """An extension that calls. `permissions` are those that it holds now, and change when it is given others."""

    def __init__(
        self,
        extension_id: str,
        uuid: str,
        manifest: Mapping[str, Any],
        grants: ExtensionPermissions,
        texts: Localization | None = None,
        decide: PermissionPrompt | None = None,
        context: ExtensionContext | None = None,
        area: str | None = None,
    ) -> None:
        super().__init__(area or extension_id)
        self.extension_id = extension_id
        origin = f"moz-extension://{uuid}"
        self.context = context or ExtensionContext(extension_id, f"{origin}/{BACKGROUND_PAGE}", origin)
        self.permissions = grants.effective
        self.uuid = uuid
        """The host of its moz-extension:// URLs."""
        self.manifest = manifest
        """What runtime.getManifest() returns."""
        self.grants = grants
        """What it has been given, and may ask for."""
        self.texts: Localization = texts or _NoTexts()
        """What it says to the user."""
        self.on_permission_request = decide or _deny
        """Decides what it is given when it asks. Without anybody to decide, nothing."""

    def may_use(self, surface: NamespaceSchema) -> bool:
        """Whether it holds what a surface needs, and its manifest has it."""
        return (
            surface.permissions <= self.permissions
            and surface.manifest_version in (None, self.manifest.get("manifest_version"))
            and (not surface.manifest_keys or any(self.manifest.get(key) is not None for key in surface.manifest_keys))
        )


class _NoTexts:
    ui_language = "en-US"
    languages = ("en-US",)

    def message(self, _: str, __: Any) -> str:
        return ""


async def _deny(_: Permissions) -> bool:
    return False
