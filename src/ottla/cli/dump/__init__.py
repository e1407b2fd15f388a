"""`ottla dump`: shows the files of a log."""
