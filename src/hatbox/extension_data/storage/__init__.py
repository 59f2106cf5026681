"""The storage areas of extensions: storage.local, sync and session."""
