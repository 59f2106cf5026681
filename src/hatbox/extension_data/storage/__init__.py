"""The storage areas storage.local, storage.sync and storage.session."""
