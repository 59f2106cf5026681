"""Options and arguments that commands share, and the objects that they name."""
