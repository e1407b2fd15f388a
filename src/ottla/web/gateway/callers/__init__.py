"""Who calls, and the clients with which the gateway acts as that caller."""
