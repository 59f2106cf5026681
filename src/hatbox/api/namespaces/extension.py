"""The namespace extension."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import Namespace
from hatbox.api.namespaces.runtime.runtime_functions import url_of
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace."""
    return _Extension(schema, services)


class _Extension(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        super().__init__(schema, services.store, {})

    def get_url(self, caller: ExtensionCaller, path: str) -> str:
        return url_of(caller.uuid, path)

    def is_allowed_incognito_access(self, _: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("isAllowedIncognitoAccess", _no)

    def is_allowed_file_scheme_access(self, _: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("isAllowedFileSchemeAccess", _no)


def _no(_: Any) -> bool:
    """Private windows and file: pages are not supported."""
    return False
