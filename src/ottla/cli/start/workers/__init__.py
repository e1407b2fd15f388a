"""`ottla start --workers`: several nodes of one host from one properties file."""
