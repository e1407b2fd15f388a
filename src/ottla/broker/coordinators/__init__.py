"""The group and transaction coordinators on this broker, and the logs they append to."""
