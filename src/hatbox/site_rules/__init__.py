"""Site rules: which identity a URL belongs to. The engine is pure; `service` and `rule_rows` know the store."""
