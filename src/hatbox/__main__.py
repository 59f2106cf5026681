"""`python -m hatbox` is the command line."""

from hatbox.cli import main

main()
