"""Scripts of extensions in documents of Chromium: extension pages and background pages."""
