"""Reads the values of the password fields of a page, so that they can be removed from what an agent gets.

Fields that were password fields earlier are remembered: "Show password" turns them into text fields.
"""

from __future__ import annotations

from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, JSHandle, Locator, Page

from hatbox.engines.chromium.sessions import within
from hatbox.mcp.password_redaction import MAX_CHARACTERS, MAX_PASSWORDS, TooManyPasswords, are_too_many

__all__ = ["KnownPasswords", "PasswordFields", "ShownFields", "masks"]

ShownFields = dict[Frame, list[int]]
"""The numbers of the fields of each frame that show a password as text."""

_MAX_MASKS: Final = 100
_FIELDS: Final = "input, textarea, [contenteditable]"  # in open shadow roots too; snapshots have no closed ones
# A field whose name or id says that it is one may be shown as text. CSS can make any field show dots.
_READ: Final = """
(elements, [former, maxValues, maxCharacters]) => {
  const found = new Set(), shown = [];
  let characters = 0;
  for (const [index, each] of elements.entries()) {
    const isField = 'value' in each;
    const names = [each.type, each.autocomplete, each.name, each.id, each.getAttribute('autocomplete')].join(' ');
    if (each.type === 'password') former.add(each);
    const isSecret = former.has(each) || /passw|passcode|passphrase|pwd/i.test(names)
      || !['none', '', undefined].includes(getComputedStyle(each).webkitTextSecurity);
    if (!isSecret) continue;
    if (each.type !== 'password') shown.push(index);
    for (const value of isField ? [each.value, each.defaultValue] : [each.textContent]) {
      if (typeof value !== 'string' || !value.trim() || found.has(value)) continue;
      found.add(value);
      characters += value.length;
      if (found.size > maxValues || characters > maxCharacters) return [null, shown];
    }
  }
  return [[...found], shown];
}
"""


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

    async def read(self) -> set[str]:
        """The values of all password fields, now and earlier. Raises PlaywrightError if one frame cannot be read.

        Raises TooManyPasswords if the page has so many that removing them takes too long.
        """
        found: set[str] = set()
        for frame in self._frames():
            try:
                values, _ = await self._read(frame)
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
        fields = frame.locator(_FIELDS)
        return await within(fields.evaluate_all(_READ, [former, MAX_PASSWORDS, MAX_CHARACTERS]))


def masks(shown: ShownFields) -> list[Locator]:
    """The fields, to be covered in an image. If there are many, all fields of the frame."""
    found = []
    for frame, numbers in shown.items():
        fields = frame.locator(_FIELDS)
        found += [fields] if len(numbers) > _MAX_MASKS else [fields.nth(each) for each in numbers]
    return found
