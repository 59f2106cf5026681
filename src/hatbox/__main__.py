"""The entry point of `python -m hatbox` and of the command `hatbox`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal and typing import enum and re: time for a Ctrl-C
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    # Until the command runs (see hatbox.cli), Ctrl-C ends the process: nothing is to be saved yet, and an
    # exception would be a traceback of imports, or lost in one of their callbacks.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    gc.disable()  # until all is imported: imports free nothing, and collecting takes a tenth of the start-up time
    if os.environ.get("_HATBOX_COMPLETE"):
        from hatbox.cli.completion import complete, is_completion

        if is_completion(os.environ):
            sys.exit(complete(os.environ))
    from hatbox.cli import main

    main()


if __name__ == "__main__":
    main()
