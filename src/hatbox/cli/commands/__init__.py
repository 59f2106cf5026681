"""The commands: one module or package for each group of verbs."""
