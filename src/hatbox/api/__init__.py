"""The API that scripts see: the dispatcher, one module for each namespace, and the Python API."""
