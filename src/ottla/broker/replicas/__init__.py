"""The replicas of this broker: led, followed, moved, placed."""
