"""Extension pages in Chromium: popups, options pages, sidebars and tabs, with a real DOM."""
