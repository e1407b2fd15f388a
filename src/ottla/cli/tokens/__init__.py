"""`ottla tokens`: delegation tokens."""
