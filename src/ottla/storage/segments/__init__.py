"""The segments of a log: each is a `.log` file with its indexes."""
