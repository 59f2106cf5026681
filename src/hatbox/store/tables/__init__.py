"""The tables of a profile in SQL, written once for all stores. A store provides Rows."""
