"""`ottla users`: SCRAM credentials."""
