"""Links from other programs: their format, the question before one is opened, and their registration on the desktop."""
