"""JavaScript text and values in Python: string conversion, and the wire codec of values that JSON lacks."""
