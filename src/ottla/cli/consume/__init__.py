"""`ottla consume`: prints records."""
