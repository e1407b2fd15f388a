"""`ottla simulate`: a simulated cluster living through faults."""
