"""Reads the values of the password fields of a page, so that they can be removed from what an agent gets.

Fields that were password fields earlier are remembered: "Show password" turns them into text fields. So are fields that
have shown another value that is hidden: who types into the middle of it would see its two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, JSHandle, Locator, Page

from hatbox.engines.chromium.sessions import within
from hatbox.mcp.password_redaction import MAX_CHARACTERS, MAX_PASSWORDS, TooManyPasswords, are_too_many

__all__ = ["KnownPasswords", "PasswordFields", "ShownFields", "masks"]

ShownFields = dict[Frame, list[int]]
"""The numbers of the fields of each frame that show a password as text."""

_MAX_MASKS: Final = 100
_FIELDS: Final = "input, textarea, [contenteditable], body"  # in open shadow roots too; snapshots have no closed ones
_MAX_SEARCHED: Final = 1_000_000  # characters of the other fields of a frame
# A field whose name or id says that it is one may be shown as text. CSS can make any field show dots.
_READ: Final = """
(elements, [former, maxValues, maxCharacters, maxSearched]) => {
  const found = new Set(), shown = [], others = new Set();
  let characters = 0, searched = 0;
  for (const [index, each] of elements.entries()) {
    if (each === document.body && !each.isContentEditable) continue;
    const values = VALUES(each);
    const names = [each.type, each.autocomplete, each.name, each.id, each.getAttribute('autocomplete')].join(' ');
    if (each.type === 'password') former.add(each);
    const isSecret = () => former.has(each) || /passw|passcode|passphrase|pwd/i.test(names)
      || !['none', '', undefined].includes(getComputedStyle(each).webkitTextSecurity);
    if (!isSecret()) {
      if (!['hidden', 'checkbox', 'radio', 'button', 'submit'].includes(each.type)) {
        for (const value of values) searched += value.length;
        if (searched > maxSearched) former.add(each);
        else values.forEach(value => others.add(value));
      }
      if (!isSecret()) continue;
    }
    if (each.type !== 'password') shown.push(index);
    for (const value of values) {
      if (!value.trim() || found.has(value)) continue;
      found.add(value);
      characters += value.length;
      if (found.size > maxValues || characters > maxCharacters) return [null, shown, []];
    }
  }
  return [[...found], shown, [...others]];
}
"""
_REMEMBER: Final = """
(elements, [former, secrets]) => {
  const found = new Set(secrets);
  for (const each of elements) {
    if (each === document.body && !each.isContentEditable) continue;
    if (VALUES(each).some(value => found.has(value))) former.add(each);
  }
}
"""
# The text of an editable element, and its parts: a snapshot has a line for each.
_VALUES: Final = """(element => {
  if ('value' in element) return [element.value, element.defaultValue].filter(value => typeof value === 'string');
  const values = [element.textContent], nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) values.push(nodes.currentNode.data);
  return values;
})"""


class KnownPasswords:
    """The values of password fields in all tabs of an agent: a form can send one to another tab."""

    def __init__(self) -> None:
        self.values: set[str] = set()
        """The values, now and earlier, within the limits."""

    def add(self, found: set[str]) -> None:
        """Add the values of a page. Raises TooManyPasswords."""
        if are_too_many(found):
            raise TooManyPasswords
        self.values = self.values | found
        if are_too_many(self.values):
            self.values = found  # a page that changes its fields all the time


class PasswordFields:
    """The password fields of one tab."""

    def __init__(self, page: Page, known: KnownPasswords) -> None:
        self._page = page
        self._known = known
        self._former: dict[Frame, JSHandle] = {}  # for each frame, a WeakSet of its password fields

    @property
    def known(self) -> set[str]:
        """The values that were read."""
        return self._known.values

    async def read(self, is_hidden: Callable[[str], bool]) -> set[str]:
        """The values of all password fields, now and earlier. Raises PlaywrightError if one frame cannot be read.

        `is_hidden` says whether the value of another field must not be shown: from then on it counts as a password.
        Raises TooManyPasswords if the page has so many that removing them takes too long.
        """
        found: set[str] = set()
        for frame in self._frames():
            try:
                values, _, others = await self._read(frame)
                if hidden := [each for each in others if is_hidden(each)]:
                    await self._remember(frame, hidden)
                    values, _, _ = await self._read(frame)
            except PlaywrightError:
                if frame.is_detached():  # removed meanwhile, so no snapshot contains it
                    continue
                raise
            if values is None:
                raise TooManyPasswords
            found |= {each for each in values if isinstance(each, str)}
        self._known.add(found)
        return self.known

    async def shown(self) -> ShownFields:
        """The password fields that are shown as text. Others show dots."""
        return {frame: (await self._read(frame))[1] for frame in self._frames()}

    def _frames(self) -> list[Frame]:
        frames = [each for each in self._page.frames if not each.is_detached()]
        self._former = {frame: self._former[frame] for frame in frames if frame in self._former}
        return frames

    async def _read(self, frame: Frame) -> Any:
        if frame in self._former:
            try:
                return await self._read_with(frame, self._former[frame])
            except PlaywrightError:
                pass  # of the document before
        self._former[frame] = await within(frame.evaluate_handle("() => new WeakSet()"))
        return await self._read_with(frame, self._former[frame])

    async def _read_with(self, frame: Frame, former: JSHandle) -> Any:
        limits = [MAX_PASSWORDS, MAX_CHARACTERS, _MAX_SEARCHED]
        return await within(frame.locator(_FIELDS).evaluate_all(_with_values(_READ), [former, *limits]))

    async def _remember(self, frame: Frame, values: list[str]) -> None:
        arguments = [self._former[frame], values]
        await within(frame.locator(_FIELDS).evaluate_all(_with_values(_REMEMBER), arguments))


def _with_values(script: str) -> str:
    return script.replace("VALUES", _VALUES)


def masks(shown: ShownFields) -> list[Locator]:
    """The fields, to be covered in an image. If there are many, all fields of the frame."""
    found = []
    for frame, numbers in shown.items():
        fields = frame.locator(_FIELDS)
        found += [fields] if len(numbers) > _MAX_MASKS else [fields.nth(each) for each in numbers]
    return found
