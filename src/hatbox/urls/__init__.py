"""URLs (WHATWG), match patterns and globs. Pure text."""
