"""Reads the values of the password fields of a page, so that they can be removed from what an agent gets.

Fields that were password fields earlier are remembered: "Show password" turns them into text fields.
"""

from __future__ import annotations

from typing import Final

from playwright.async_api import Locator, Page

from hatbox.mcp.password_redaction import MAX_CHARACTERS, MAX_PASSWORDS, TooManyPasswords

__all__ = ["PasswordFields", "shown_passwords"]

_SHOWN: Final = (
    "input:not([type=password i]):is([name*=passw i], [id*=passw i], [name*=pwd i], [id*=pwd i], "
    "[autocomplete*=password i])"
)
_FIELDS: Final = "input, textarea, [contenteditable]"  # in open shadow roots too; snapshots have no closed ones
# A field whose name or id says that it is one may be shown as text. CSS can make any field show dots.
_VALUES: Final = """
(elements, limits) => {
  const found = new Set();
  let characters = 0;
  for (const each of elements) {
    const isField = 'value' in each;
    const names = [each.type, each.autocomplete, each.name, each.id, each.getAttribute('autocomplete')].join(' ');
    const isSecret = /passw|passcode|passphrase|pwd/i.test(names)
      || !['none', '', undefined].includes(getComputedStyle(each).webkitTextSecurity);
    if (!isSecret) continue;
    for (const value of isField ? [each.value, each.defaultValue] : [each.textContent]) {
      if (typeof value !== 'string' || !value.trim() || found.has(value)) continue;
      found.add(value);
      characters += value.length;
      if (found.size > limits[0] || characters > limits[1]) return null;
    }
  }
  return [...found];
}
"""


class PasswordFields:
    """The password fields of one tab."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._known: set[str] = set()

    async def read(self) -> set[str]:
        """The values of all password fields, now and earlier. Raises PlaywrightError if one frame cannot be read.

        Raises TooManyPasswords if the page has so many that removing them takes too long.
        """
        found: set[str] = set()
        for frame in self._page.frames:
            if not frame.is_detached():
                values = await frame.locator(_FIELDS).evaluate_all(_VALUES, [MAX_PASSWORDS, MAX_CHARACTERS])
                if values is None:
                    raise TooManyPasswords
                found |= {each for each in values if isinstance(each, str)}
        self._known |= found
        if len(self._known) > MAX_PASSWORDS or sum(map(len, self._known)) > MAX_CHARACTERS:
            self._known = found  # a page that changes its fields all the time
        return self._known


def shown_passwords(page: Page) -> list[Locator]:
    """The password fields that are shown as text, to be covered in images. Others show dots."""
    return [frame.locator(_SHOWN) for frame in page.frames if not frame.is_detached()]
