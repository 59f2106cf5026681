"""Messages and ports between the pages of extensions that run in this process. Knows no namespace and no script."""
