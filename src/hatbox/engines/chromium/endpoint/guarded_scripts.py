"""Scripts of a client that may run in another document than that for which they were sent. Pure text.

In documents that clients do not see, such a script must not even be instantiated: a function declaration would replace
a function that the document calls. So the script is a block that a condition decides. Its text has to be compiled alone
before (`ScriptCompiler`): a text that is no script could end the block.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from hatbox.urls.protected_pages import PROTECTED_HOST, PROTECTED_PATH

__all__ = ["SCRIPT_GUARD", "failing_script", "guarded_script"]

_WEB_PROTOCOLS: Final = ("http:", "https:", "about:", "data:", "blob:")
_IS_WEB: Final = " || ".join(f'location.protocol === "{each}"' for each in _WEB_PROTOCOLS)
_IS_EXTENSION: Final = "location.host.length === 36" + "".join(
    f' && location.host[{at}] === "-"' for at in (8, 13, 18, 23)
)
_HAS_EXTENSION_ORIGIN: Final = "origin?.length === 44" + "".join(f' && origin[{at}] === "-"' for at in (16, 21, 26, 31))
_IS_MANAGER: Final = f'location.hostname === "{PROTECTED_HOST}"' + "".join(
    f' && location.pathname[{at}] === "{each}"' for at, each in enumerate(PROTECTED_PATH)
)
SCRIPT_GUARD: Final = f"if (({_IS_WEB}) && !({_IS_EXTENSION}) && !({_HAS_EXTENSION_ORIGIN}) && !({_IS_MANAGER}))"
"""The condition. `location` and its members cannot be redefined. A blank document has the origin of the one that has
opened it."""

_RESTORE: Final = """ else { for (const name of Object.getOwnPropertyNames(globalThis)) {
  const own = Object.getOwnPropertyDescriptor(globalThis, name), above = Object.getPrototypeOf(globalThis);
  if ("value" in own && own.value === undefined && name in above)
    globalThis[name] = Reflect.get(above, name, globalThis);
} void 0; }"""
"""The names that a script declares with `var` or `function` exist also if the block does not run. Those of inherited
properties, such as `addEventListener`, get their values back. Those that did not exist stay undefined."""

_STRICT: Final = re.compile(r"""(?:\s|//[^\n]*\n|/\*.*?\*/)*+(?:"use strict"|'use strict')\s*(?:;|\n)""", re.DOTALL)


def guarded_script(source: str) -> str:
    """The script with its guard. The source must have been compiled alone."""
    directive = '"use strict"; ' if _STRICT.match(source) else ""
    return f"{directive}{SCRIPT_GUARD} {{{source}\n}}{_RESTORE}"


def failing_script(failure: dict[str, Any]) -> str:
    """A script that throws the syntax error of another one. `failure` are its exceptionDetails."""
    description = str(failure.get("exception", {}).get("description", ""))
    message = description.partition("\n")[0].removeprefix("SyntaxError: ")
    return f"{SCRIPT_GUARD} throw new SyntaxError({json.dumps(message)});"
