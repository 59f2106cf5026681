"""What Hatbox costs, each figure as a ratio to a peer that is measured in the same run."""
