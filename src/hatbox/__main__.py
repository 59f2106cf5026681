"""`python -m hatbox`, and the command `hatbox`, are the command line."""

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.disable()  # until all is imported: nothing of it is ever let go, and to look for that takes a tenth of the start
    from hatbox.cli import main

    main()


if __name__ == "__main__":
    main()
