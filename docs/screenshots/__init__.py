"""Takes the screenshots of the README and of the documentation: `python -m docs.screenshots`."""
