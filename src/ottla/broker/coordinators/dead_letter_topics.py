"""Which topics take dead letters (KIP-1191).

A topic is used only if it allows that (`errors.deadletterqueue.group.enable`) and its name has the
prefix that the broker wants (`errors.deadletterqueue.topic.name.prefix`): otherwise, a user who may
only alter configs could write to any topic.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView


def dead_letter_refusal(cluster: ClusterView, name: str, *, tenant_prefix: str = "") -> str:
    """Why the topic takes none; empty if it does. `name` begins with the tenant's prefix."""
    prefix = cluster.config.dead_letter_prefix
    own_name = name.removeprefix(tenant_prefix)
    if own_name.startswith("__"):
        return "its name begins with __"
    if not own_name.startswith(prefix):
        return f"its name does not begin with {prefix}"
    if name not in cluster.image.topics.by_name:
        return "it does not exist"
    topic_config = cluster.config.topic_config(cluster.image.topic_configs(name))
    if not topic_config.takes_dead_letters:
        return "its errors.deadletterqueue.group.enable is not true"
    if topic_config.compacts:
        return "it is compacted, and dead letters may have no keys"
    return "it checks schemas itself" if topic_config.checks_schemas else ""
