"""The stores of profiles: the contract in base.py, one package per store, chosen by registry.py."""
