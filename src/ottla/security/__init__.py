"""Authentication and authorization as decisions: no network, no clock, no random numbers."""
