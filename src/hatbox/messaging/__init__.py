"""Messages and ports between the extension contexts of this process. Knows no namespace and no script."""
