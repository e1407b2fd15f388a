"""Applies records to an image: one function per record type, grouped by subject."""

# The first five are imported because they register their functions.
from ottla.metadata.replay import brokers, cluster, configs, security, topics
from ottla.metadata.replay.replay import MetadataReplay, apply

__all__ = ["MetadataReplay", "apply", "brokers", "cluster", "configs", "security", "topics"]
