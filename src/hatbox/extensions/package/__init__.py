"""The files of an extension: manifest, locales, background scripts. Runs nothing."""
