"""The servers that a configuration lists, as text: JSON or TOML. Each edit is checked: nothing else may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from hatbox.cli.agent_clients.json_text import InvalidText, JsonNode, parse_json_text, with_member, without_member
from hatbox.cli.agent_clients.toml_text import parse_toml_text, with_table, without_table

__all__ = ["JsonServers", "ServerList", "TomlServers"]


class ServerList(Protocol):
    """How a client lists its servers. All functions raise InvalidText."""

    def servers(self, text: str) -> dict[str, Any]:
        """The servers of a text, by name."""
        ...

    def with_server(self, text: str, name: str, server: Mapping[str, object]) -> str:
        """The text with a server more. The name must be new."""
        ...

    def without_server(self, text: str, name: str) -> str:
        """The text without a server, which must exist."""
        ...


class JsonServers(msgspec.Struct, frozen=True):
    """An object of JSON with one member for each server."""

    key: str
    """The member of the document that has the servers."""
    comments: bool = False
    """Whether the client accepts comments and trailing commas."""

    def servers(self, text: str) -> dict[str, Any]:
        """The servers of a text, by name."""
        found = self._container(text)
        return {} if found is None else dict(found.value)

    def with_server(self, text: str, name: str, server: Mapping[str, object]) -> str:
        """The text with a server more. The name must be new."""
        text = text if text.strip() else "{}\n"
        root, container = self._root(text), self._container(text)
        if container is None:
            changed = with_member(text, root, self.key, {name: dict(server)})
        else:
            changed = with_member(text, container, name, dict(server))
        return self._checked(changed, root.value, {**self.servers(text), name: dict(server)})

    def without_server(self, text: str, name: str) -> str:
        """The text without a server, which must exist."""
        container = self._container(text)
        if container is None:
            raise KeyError(name)
        container.member(name)  # raises if the name occurs twice
        left = {key: value for key, value in container.value.items() if key != name}
        return self._checked(without_member(text, container, name), self._root(text).value, left)

    def _root(self, text: str) -> JsonNode:
        root = parse_json_text(text, comments=self.comments)
        if root.members is None:
            raise InvalidText("the document is no object")
        return root

    def _container(self, text: str) -> JsonNode | None:
        member = self._root(text).member(self.key) if text.strip() else None
        if member is not None and member.node.members is None:
            raise InvalidText(f'"{self.key}" is no object')
        return None if member is None else member.node

    def _checked(self, changed: str, before: Mapping[str, Any], servers: Mapping[str, Any]) -> str:
        if self._root(changed).value != {**before, self.key: servers}:
            raise InvalidText("the text has a form that cannot be edited safely; change it in a text editor")
        return changed


class TomlServers(msgspec.Struct, frozen=True):
    """Tables of TOML, one for each server."""

    key: str

    def servers(self, text: str) -> dict[str, Any]:
        """The servers of a text, by name."""
        found = parse_toml_text(text).get(self.key, {})
        if not isinstance(found, dict):
            raise InvalidText(f'"{self.key}" is no table')
        return found

    def with_server(self, text: str, name: str, server: Mapping[str, object]) -> str:
        """The text with a server more. The name must be new."""
        expected = {**self.servers(text), name: dict(server)}
        return self._checked(with_table(text, self.key, name, server), text, expected)

    def without_server(self, text: str, name: str) -> str:
        """The text without a server, which must exist."""
        left = {key: value for key, value in self.servers(text).items() if key != name}
        return self._checked(without_table(text, self.key, name), text, left)

    def _checked(self, changed: str, text: str, servers: Mapping[str, Any]) -> str:
        expected = {key: value for key, value in parse_toml_text(text).items() if key != self.key}
        try:
            found = parse_toml_text(changed)
        except InvalidText as error:
            raise InvalidText("the text has a form that cannot be edited safely; change it in a text editor") from error
        if {self.key: {}, **found} != {**expected, self.key: servers}:
            raise InvalidText("the text has a form that cannot be edited safely; change it in a text editor")
        return changed
