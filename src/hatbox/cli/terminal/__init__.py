"""Input and output of the terminal: tables, colors, prompts, errors."""
