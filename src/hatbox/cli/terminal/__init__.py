"""Terminal input and output: tables, colors, prompts, progress, errors."""
