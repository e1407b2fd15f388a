"""Ottla: a replicated commit log that speaks Kafka's protocol and writes Kafka's files.

What is exported here and by `ottla.client`, `ottla.client.sync`, `ottla.testing`,
`ottla.simulation` and `ottla.pipeline` is the public API. Every other module is internal and may
change in any release.
"""

from typing import TYPE_CHECKING

from ottla.exports import lazy_names
from ottla.version import __version__

if TYPE_CHECKING:
    from ottla import client, pipeline, simulation, testing
    from ottla.configs import InvalidConfigError
    from ottla.model import ErrorCode, KafkaError, TopicPartition
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "ErrorCode": "ottla.model",
            "InvalidConfigError": "ottla.configs",
            "KafkaError": "ottla.model",
            "TopicPartition": "ottla.model",
            "client": "ottla.client",
            "pipeline": "ottla.pipeline",
            "simulation": "ottla.simulation",
            "testing": "ottla.testing",
        },
    )

__all__ = [
    "ErrorCode",
    "InvalidConfigError",
    "KafkaError",
    "TopicPartition",
    "__version__",
    "client",
    "pipeline",
    "simulation",
    "testing",
]
