"""Archives: identities as bytes, and profiles as one file that does not depend on the store."""
