"""Edits JSON as text: adds and removes members of objects, and changes nothing else. Pure text.

Comments and trailing commas are accepted on request, as editors accept them in their settings, and stay.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

__all__ = ["InvalidText", "JsonMember", "JsonNode", "indent_of", "parse_json_text", "with_member", "without_member"]

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_COMMENT: Final = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_LITERAL: Final = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_MAX_DEPTH: Final = 100


class InvalidText(ValueError):
    """The text is not what its format allows. The message names the line."""


class JsonMember(msgspec.Struct):
    """A member of an object: its key, and the place where the key starts."""

    key: str
    start: int
    node: JsonNode


class JsonNode(msgspec.Struct):
    """A value, and its place in the text."""

    value: Any
    start: int
    end: int
    members: list[JsonMember] | None = None
    """The members of an object; None for other values."""
    has_trailing_comma: bool = False

    def member(self, key: str) -> JsonMember | None:
        """The member with a key. Raises InvalidText if the key occurs twice: programs differ in which one they use."""
        found = [each for each in self.members or [] if each.key == key]
        if len(found) > 1:
            raise InvalidText(f'"{key}" occurs {len(found)} times')
        return found[0] if found else None


def parse_json_text(text: str, *, comments: bool) -> JsonNode:
    """The value of a text. Raises InvalidText."""
    reader = _Reader(text, comments=comments)
    node = reader.value(reader.skip(1 if text.startswith("\ufeff") else 0), 0)
    end = reader.skip(node.end)
    if end < len(text):
        raise reader.error(end, "the end of the file")
    return node


def with_member(text: str, parent: JsonNode, key: str, value: object) -> str:
    """The text with a new last member in an object, in the style of the text."""
    newline = "\r\n" if "\r\n" in text else "\n"
    members = parent.members or []
    close = parent.end - 1
    place = _end_before(text, close)
    if text.strip() == "{}" or "\n" in (text[parent.start : parent.end] if members else text):
        unit = indent_of(text)
        base = _line_indent(text, parent.start)
        inner = _line_indent(text, members[0].start) if members else base + unit
        rendered = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + inner)
        lead = newline + inner
        tail = "" if "\n" in text[place:close] else newline + base
    else:
        rendered = json.dumps(value, ensure_ascii=False)
        lead, tail = " " if members and not text[:place].endswith((" ", "\t")) else "", ""
    added = f"{lead}{json.dumps(key, ensure_ascii=False)}: {rendered}"
    added += "," if parent.has_trailing_comma else ""
    if not members or parent.has_trailing_comma:
        return text[:place] + added + tail + text[place:]
    last = members[-1].node.end
    return f"{text[:last]},{text[last:place]}{added}{tail}{text[place:]}"


def without_member(text: str, parent: JsonNode, key: str) -> str:
    """The text without a member of an object. Comments stay, and so do all other members."""
    members = parent.members or []
    index = next(number for number, each in enumerate(members) if each.key == key)
    start, end = members[index].start, members[index].node.end
    is_last = index == len(members) - 1
    comma = _comma_after(text, end) if not is_last or parent.has_trailing_comma else None
    if comma is not None:
        text = text[:comma] + text[comma + 1 :]
    start, end = _whole_lines(text, start, end)
    text = text[:start] + text[end:]
    if comma is None and index:  # the member before it is the last one now
        before = _comma_after(text, members[index - 1].node.end)
        text = text[:before] + text[before + 1 :]
    if len(members) == 1:
        close = text.index("}", start)
        if not text[parent.start + 1 : close].strip():
            text = text[: parent.start + 1] + text[close:]
    return text


def indent_of(text: str) -> str:
    """The indentation of one level: that of the first indented line, or two spaces."""
    found = re.search(r"^([ \t]+)[\"}\]]", text, re.MULTILINE)
    return found[1] if found else "  "


class _Reader:
    """Reads values with their places."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._comments = comments

    def error(self, place: int, expected: str) -> InvalidText:
        line = self._text.count("\n", 0, place) + 1
        column = place - self._text.rfind("\n", 0, place)
        return InvalidText(f"line {line}, column {column}: expected {expected}")

    def skip(self, place: int) -> int:
        """The place after white space and comments."""
        while True:
            if space := _SPACE.match(self._text, place):
                place = space.end()
            found = _COMMENT.match(self._text, place) if self._comments else None
            if found is None:
                return place
            place = found.end()

    def value(self, place: int, depth: int) -> JsonNode:
        if depth > _MAX_DEPTH:
            raise self.error(place, f"at most {_MAX_DEPTH} levels")
        opening = self._text[place : place + 1]
        if opening == "{":
            return self._object(place, depth)
        if opening == "[":
            return self._array(place, depth)
        found = (_STRING if opening == '"' else _LITERAL).match(self._text, place)
        try:
            if found is not None:
                return JsonNode(json.loads(found[0]), place, found.end())
        except ValueError:
            pass
        raise self.error(place, "a value")

    def _object(self, place: int, depth: int) -> JsonNode:
        members: list[JsonMember] = []
        at, trailing = self.skip(place + 1), False
        while self._text[at : at + 1] != "}":
            if members and not trailing:
                raise self.error(at, "a comma or }")
            if self._text[at : at + 1] != '"':
                raise self.error(at, "a key in double quotes")
            key = self.value(at, depth)
            colon = self.skip(key.end)
            if self._text[colon : colon + 1] != ":":
                raise self.error(colon, "a colon")
            node = self.value(self.skip(colon + 1), depth + 1)
            members.append(JsonMember(key.value, at, node))
            at, trailing = self._after_comma(node.end)
        if trailing and not self._comments:
            raise self.error(at, "a key in double quotes")
        values = {each.key: each.node.value for each in members}
        return JsonNode(values, place, at + 1, members, trailing)

    def _array(self, place: int, depth: int) -> JsonNode:
        values: list[Any] = []
        at, trailing = self.skip(place + 1), False
        while self._text[at : at + 1] != "]":
            if values and not trailing:
                raise self.error(at, "a comma or ]")
            node = self.value(at, depth + 1)
            values.append(node.value)
            at, trailing = self._after_comma(node.end)
        if trailing and not self._comments:
            raise self.error(at, "a value")
        return JsonNode(values, place, at + 1)

    def _after_comma(self, end: int) -> tuple[int, bool]:
        at = self.skip(end)
        return (self.skip(at + 1), True) if self._text[at : at + 1] == "," else (at, False)


def _end_before(text: str, close: int) -> int:
    """The place after the last character before a closing bracket that is no white space."""
    return len(text[:close].rstrip(" \t\r\n"))


def _line_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _comma_after(text: str, end: int) -> int:
    """The place of the comma after a value, behind comments."""
    return _Reader(text, comments=True).skip(end)


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The range with the white space around it: whole lines, if nothing else is on them."""
    line = text.rfind("\n", 0, start) + 1
    following = re.compile(r"[ \t]*(\r?\n)?").match(text, end)
    rest = end if following is None else following.end()
    is_own_line = not text[line:start].strip(" \t")
    if is_own_line and following is not None and following[1]:
        return line, rest
    if text[rest : rest + 1] == "}":  # on a line of its own, the line before it may end with a comment
        return (start, end) if is_own_line else (_end_before(text, start), end)
    return start, rest
