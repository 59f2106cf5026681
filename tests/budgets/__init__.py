"""What each piece of work costs, counted exactly: budgets.md. Time cannot be tested on a shared machine; work can."""
