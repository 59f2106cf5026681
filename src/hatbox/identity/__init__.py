"""What an identity is: its id, its palette, its record, its settings and their values. Knows no service and no tab."""
