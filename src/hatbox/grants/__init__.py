"""Grants: capabilities that let a program use some identities, and nothing else of the profile."""
