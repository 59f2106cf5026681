"""Runs JavaScript in Deno, without a browser or an extension."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from hatbox.extensions.runtime.command import deno_program

__all__ = ["value_in_deno"]


def value_in_deno(start: str, body: str) -> Any:
    """The value of the body of an async function, in a module that begins with `start`."""
    source = f"{start}\nconst main = async () => {{ {body} }};\n"
    source += "console.log(JSON.stringify(await main())); Deno.exit();"
    done = subprocess.run(
        [deno_program(), "run", "-"], input=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
