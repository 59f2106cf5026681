"""The bookmarks of a profile: one tree for all identities, as in Firefox."""
