"""The namespaces: one module or package for each schema, and nothing else."""
