"""`ottla trace`: follows one message through a node."""
