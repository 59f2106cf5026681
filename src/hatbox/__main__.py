"""The entry point of `python -m hatbox` and of the command `hatbox`."""

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.disable()  # until all is imported: imports free nothing, and collecting takes a tenth of the start-up time
    from hatbox.cli import main

    main()


if __name__ == "__main__":
    main()
