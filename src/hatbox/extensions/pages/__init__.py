"""Scripts of extensions in documents of Chromium: extension pages, background pages and content scripts."""
