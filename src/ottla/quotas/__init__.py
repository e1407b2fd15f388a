"""Client quotas: entities and their limits, and Kafka's arithmetic of rates and throttle times."""
