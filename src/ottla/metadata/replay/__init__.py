"""Records applied to an image: a function for each type, grouped by what they are about."""

# The first five are imported for what they register.
from ottla.metadata.replay import brokers, cluster, configs, security, topics
from ottla.metadata.replay.replay import Replay, apply

__all__ = ["Replay", "apply", "brokers", "cluster", "configs", "security", "topics"]
