"""`ottla simulate`: a simulated cluster under faults."""
