"""Files that extensions download (browser.downloads). Knows no HTTP client: the bytes come from a DownloadSource."""
