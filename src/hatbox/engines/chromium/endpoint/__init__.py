"""A CDP endpoint for one identity: clients see one browser with one context. Knows no grants."""
