"""The activity log: what programs did with identities, for grants always, and for identities whose setting is on."""
