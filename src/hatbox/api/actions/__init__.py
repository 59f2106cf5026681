"""The buttons of extensions: browserAction, action and pageAction. `values` has what they share."""
