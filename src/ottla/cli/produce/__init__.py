"""`ottla produce`: sends records."""
