"""Records applied to an image: a function for each type, grouped by what they are about."""

# The first five are imported for what they register.
from ottla.metadata.replay import brokers, cluster, configs, security, topics
from ottla.metadata.replay.replay import MetadataReplay, apply

__all__ = ["MetadataReplay", "apply", "brokers", "cluster", "configs", "security", "topics"]
