"""The visited pages of a profile, by cookie store. Recorded only if the user or an installed extension needs them."""
