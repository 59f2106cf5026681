"""Where a profile is kept: the contract in base.py, SQLite in sqlite/."""
