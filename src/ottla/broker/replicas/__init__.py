"""The replicas on this broker: leaders, followers, log directories and moves between them."""
