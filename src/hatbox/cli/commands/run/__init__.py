"""The command run: scripts and extensions in the foreground."""
