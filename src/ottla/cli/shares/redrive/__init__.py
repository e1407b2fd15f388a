"""`ottla shares redrive`: sends dead letters back to where they came from."""
