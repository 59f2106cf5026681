"""The command line and environment of Deno. Starts nothing."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Final

import platformdirs

from hatbox.errors import MissingExtra
from hatbox.extensions.runtime.limits import RuntimeLimits

__all__ = ["cache_folder", "command", "deno_program", "environment"]

_SCRIPTS: Final = Path(__file__).parent / "js"


@cache
def deno_program() -> str:
    """The path of the program in the `deno` wheel."""
    in_environment = Path(sys.prefix) / "bin" / "deno"
    if sys.prefix != sys.base_prefix and in_environment.is_file():
        return str(in_environment)  # as the wheel does first, without importing sysconfig, which takes 2 ms
    try:
        from deno import find_deno_bin  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("deno") from None
    return str(find_deno_bin())


def command(limits: RuntimeLimits, *, inspect: bool = False, unsafe_eval: bool = False) -> list[str]:
    """The program and its arguments. It has no permissions: no files, network, environment or programs.

    Code from strings is rejected, as by the default content security policy, unless the manifest has `unsafe-eval`.
    With it, a string that V8 itself evaluates (`setTimeout(eval, 0, …)`) can import without our loader. Then the import
    map rejects `node:`, and Deno's flags everything else.
    """
    v8_flags = [f"--max-old-space-size={limits.heap >> 20}"]
    if not unsafe_eval:
        v8_flags.append("--disallow-code-generation-from-strings")
    return [
        deno_program(),
        "run",
        "--no-prompt",
        "--no-config",
        "--no-lock",
        "--no-remote",
        "--no-npm",
        f"--import-map={_SCRIPTS / 'import_map.json'}",
        f"--v8-flags={','.join(v8_flags)}",
        # --quiet would suppress the URL of the inspector. It is a secret that only the host reads, from stderr.
        *(("--inspect=127.0.0.1:0", "--inspect-publish-uid=stderr") if inspect else ("--quiet",)),
        str(_SCRIPTS / "boot.mjs"),
    ]


def cache_folder() -> Path:
    """The folder of the caches of compiled code. It contains nothing else."""
    return Path(platformdirs.user_cache_dir("hatbox", appauthor=False)) / "deno"


def environment(cache: Path) -> dict[str, str]:
    """The environment variables of the process, which scripts cannot read."""
    required = {name: value for name in ("SYSTEMROOT",) if (value := os.environ.get(name))}  # Windows needs it
    return {**required, "DENO_DIR": str(cache), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
