"""The entry point of `python -m hatbox` and of the command `hatbox`."""

import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.disable()  # until all is imported: imports free nothing, and collecting takes a tenth of the start-up time
    if os.environ.get("_HATBOX_COMPLETE"):
        from hatbox.cli.completion import complete, is_completion

        if is_completion(os.environ):
            sys.exit(complete(os.environ))
    from hatbox.cli import main

    main()


if __name__ == "__main__":
    main()
