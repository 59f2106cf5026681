"""Changes the key of a profile, and kills itself before the n-th statement or in the middle of it. Run as a script."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

from hatbox.maintenance import Key, change_profile_key


def main() -> None:
    path, old, new, last, within = sys.argv[1:]
    count = 0
    connect = sqlite3.connect

    def die() -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def connect_and_count(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **named)

        def on_statement(_: str) -> None:
            nonlocal count
            count += 1
            if count == int(last):
                if int(within):
                    connection.set_progress_handler(die, int(within))
                else:
                    die()

        connection.set_trace_callback(on_statement)
        return connection

    sqlite3.connect = connect_and_count  # type: ignore[assignment]
    rewritten = change_profile_key(path, Key.parse(old) if old else None, Key.parse(new) if new else None)
    sys.stdout.write(f"{count} {rewritten}\n")


main()
