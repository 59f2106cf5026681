"""Callers of the API and their permissions. Knows no namespace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeAlias

from hatbox.extension_data.extension_permissions import ExtensionPermissions, Permissions
from hatbox.messaging.context import BACKGROUND_PAGE, ExtensionContext
from hatbox.schema import NamespaceSchema
from hatbox.urls.match_patterns import HostPermissions, host_permissions

__all__ = [
    "CallGuard",
    "Caller",
    "ExtensionCaller",
    "ExtensionTestMessage",
    "Localization",
    "PermissionPrompt",
    "TestReporter",
]

PermissionPrompt: TypeAlias = Callable[[Permissions], Awaitable[bool]]
"""Decides whether an extension gets the permissions that it requests."""

TestReporter: TypeAlias = Callable[[str, list[Any]], None]
"""Receives what browser.test reports: its kind, and the values."""


class ExtensionTestMessage(NamedTuple):
    """A message of a test to the listeners of browser.test.onMessage in all scripts of an extension."""

    extension_id: str
    values: list[Any]


class Localization(Protocol):
    """The messages of an extension in the user's language."""

    @property
    def ui_language(self) -> str:
        """The user's language."""

    @property
    def languages(self) -> Sequence[str]:
        """The user's languages, the preferred one first."""

    def message(self, name: str, substitutions: Any) -> str:
        """The message of this name; empty if it does not exist."""


class CallGuard(Protocol):
    """Checks each call and each event of a caller that is limited further than by permissions: see GrantCaller.

    A path is a namespace and a member, such as `tabs.query`.
    """

    def start_call(self, path: str) -> Any:
        """Before anything else: the checked call. Raises PermissionDenied."""

    def run(self, call: Any, values: list[Any], method: Callable[..., Any]) -> Any:
        """Check normalised arguments, and call the implementation."""

    def shows_url(self, url: str) -> bool:
        """Whether the caller may know the page of a tab."""

    def record_failure(self, call: Any, error: BaseException) -> None:
        """The call was started, and raised before or in run()."""

    def refuse_namespace(self, name: str) -> None:
        """Raise PermissionDenied for a namespace that the caller may not use."""

    def record_missing(self, path: str) -> None:
        """The caller has read a namespace or member that does not exist for it."""

    def start_listening(self, path: str) -> None:
        """Before a listener is added. Raises PermissionDenied."""

    def add_listener(self, key: object, remove: Callable[[], None]) -> None:
        """A listener was added. `remove` removes it."""

    def discard_listener(self, key: object) -> None:
        """A listener was removed."""

    def filter_event(self, path: str, payload: Any, arguments: Sequence[Any]) -> Sequence[Any] | None:
        """The arguments of a listener that the caller may see; None to skip it."""


class Caller:
    """An id and permissions, which may be granted and revoked at any time.

    A permission is a name, or a match pattern for hosts.
    """

    def __init__(self, caller_id: str, permissions: Iterable[str] = ()) -> None:
        self.id = caller_id
        """The data area: the name under which the profile stores its data."""
        self.extension_id = caller_id
        """The id in messages and events."""
        self.permissions = set(permissions)
        self.context = ExtensionContext(caller_id, "about:blank", "null", kind=None)
        """The sender of its messages."""
        self.is_handling_user_input = False
        """Whether a user input handler runs: only then may it request permissions."""
        self.note_user_input: Callable[[], None] = _ignore
        """Accepts calls of user input handlers in its scripts for a while. Set by their host."""
        self.active_tabs: dict[int, int] = {}
        """Tabs that `activeTab` gives access to, each with the navigation id of its page."""

    @property
    def guard(self) -> CallGuard | None:
        """Checks its calls and events; None if permissions are the only limit."""
        return None

    @contextmanager
    def handling_user_input(self) -> Iterator[None]:
        """Run the body as a user input handler."""
        before, self.is_handling_user_input = self.is_handling_user_input, True
        try:
            yield
        finally:
            self.is_handling_user_input = before

    @property
    def hosts(self) -> HostPermissions:
        """The current host permissions."""
        return host_permissions(frozenset(self.permissions))

    def may_use(self, schema: NamespaceSchema) -> bool:
        """Whether it has the permissions of a namespace."""
        return schema.permissions <= self.permissions and not schema.for_extensions


class ExtensionCaller(Caller):
    """An extension as a caller. `permissions` are the required and the granted ones."""

    def __init__(
        self,
        extension_id: str,
        uuid: str,
        manifest: Mapping[str, Any],
        grants: ExtensionPermissions,
        texts: Localization | None = None,
        on_permission_request: PermissionPrompt | None = None,
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
        """Its required, granted and optional permissions."""
        self.texts: Localization = texts or _NoTexts()
        """Its messages."""
        self.on_permission_request = on_permission_request or _deny
        """Decides about requested permissions. The default denies all."""
        self.on_test_report: TestReporter | None = None
        """Receives the reports of browser.test, which exists only if this is set before the scripts run."""

    def in_context(self, context: ExtensionContext) -> ExtensionCaller:
        """The same extension, whose code runs in this context."""
        caller = ExtensionCaller(
            self.extension_id,
            self.uuid,
            self.manifest,
            self.grants,
            self.texts,
            self.on_permission_request,
            context,
            self.id,
        )
        caller.on_test_report = self.on_test_report
        return caller

    def may_use(self, schema: NamespaceSchema) -> bool:
        """Whether it has the permissions and the manifest keys of a namespace."""
        return (
            not schema.for_manager
            and schema.permissions <= self.permissions
            and schema.manifest_version in (None, self.manifest.get("manifest_version"))
            and (not schema.manifest_keys or any(self.manifest.get(key) is not None for key in schema.manifest_keys))
        )


class _NoTexts:
    ui_language = "en-US"
    languages = ("en-US",)

    def message(self, _: str, __: Any) -> str:
        return ""


def _ignore() -> None:
    pass


async def _deny(_: Permissions) -> bool:
    return False
