"""The segments of a log: a `.log` file with its indexes each."""
