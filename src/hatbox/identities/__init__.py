"""Identities: the model, the palette, ids, and the service that changes them."""
