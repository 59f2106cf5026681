"""The configuration files of agents: which servers of the Model Context Protocol they start."""
