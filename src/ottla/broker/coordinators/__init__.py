"""Which coordinators this broker has, and the logs that they write to."""
