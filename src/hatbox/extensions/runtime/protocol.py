"""The wire protocol between the host (Python) and an extension process (JavaScript).

A message is a JSON array: one of these names, then its fields. js/protocol.js has the same names. An `id` is chosen by
the side that sends a request, and repeated in the response. `fields?` may be absent.
"""

from __future__ import annotations

from typing import Final

# ── From the extension process to the host ──

CALL: Final = "c"
"""[id, path, arguments, true?]: call an API function; `true` in a user input handler. The host sends RESULT."""

RESPONSE: Final = "a"
"""[id, ok, value]: the response to a request of the host; if not `ok`, the value describes the error."""

LISTENER: Final = "l"
"""[path, listenerId, added, extra?]: a script added or removed a listener; `extra` are the arguments of addListener."""

LOG: Final = "log"
"""[level, text, location]: a console message; the location is {file, line, column} or null."""

UNCAUGHT: Final = "x"
"""[kind, error]: an uncaught error. The kind is `error`, `rejection` or `listener`."""

READ_SOURCE: Final = "s"
"""[id, url]: read a script of the package. The host sends RESULT with the text, or null."""

FETCH: Final = "f"
"""[id, request]: make an HTTP request. The host sends BODY_CHUNK for a large body, then RESULT."""

CANCEL: Final = "k"
"""[id]: cancel a request."""

LOCAL_STORAGE: Final = "ls"
"""[last, chunk]: a part of a localStorage change, which is [key, value] as JSON text."""

INDEXED_DB: Final = "db"
"""[id, operation, fields]: use databases in the profile (hatbox.extensions.indexed_db). The host sends RESULT."""

PONG: Final = "pong"
"""[number]: the response to PING."""

READY: Final = "ready"
"""[]: BOOT was handled."""

# ── In both directions ──

SOCKET: Final = "w"
"""To the host, [kind, socketId, …]: open (url, protocols), text (text), bytes (base64), close (code, reason),
fail (error), read (cost).

To the extension process, [socketId, kind, fields]: open (protocol, extensions), text (text, cost),
bytes (base64, cost), sent (size), closed (code, reason, wasClean, failed).
"""

# ── From the host to the extension process ──

BOOT: Final = "boot"
"""[settings]: the first message (hatbox.extensions.runtime.boot). The extension process sends READY."""

RESULT: Final = "r"
"""[id, ok, value]: the result of a request; if not `ok`, the value is the error message."""

BODY_CHUNK: Final = "b"
"""[id, base64]: a part of the response body of FETCH. The last part is in RESULT."""

EVENT: Final = "e"
"""[id, listenerId, arguments]: call a listener. With id 0 there is no RESPONSE."""

NAMESPACES: Final = "show"
"""[description]: replace the namespaces of `browser`, because permissions changed."""

RUN_SCRIPT: Final = "script"
"""[id, url, source]: run a classic script."""

RUN_WORKER: Final = "worker"
"""[id, url, source]: run the classic script of a service worker."""

RUN_MODULE: Final = "module"
"""[id, url]: run a module with its imports."""

LOADED: Final = "loaded"
"""[]: all background scripts have run; fires the `load` event."""

EVALUATE: Final = "evaluate"
"""[id, source, format]: run an expression or statements. The format of the result is `json` or `inspect`."""

FLUSH: Final = "flush"
"""[id]: respond after all messages sent so far."""

PING: Final = "ping"
"""[number]: respond with PONG."""

NO_OP: Final = "nothing"
"""[]: replaces a message that cannot be encoded."""
