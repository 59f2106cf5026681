"""URLs and hosts (WHATWG), match patterns and globs. Pure text."""
