"""The recorded events of a run."""
