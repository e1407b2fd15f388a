"""A commit is answered before all its markers are written: reads right after it wait for them."""

from __future__ import annotations

from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec

from tests.support.nodes.cluster_processes import wait_until

_ANSWER_SECONDS_MAX = 30.0


def wait_stable(bootstrap: str, topic: str, *, partitions: int) -> None:
    """Returns when no transaction is open in any of the partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    names = [TopicPartition(topic, index) for index in range(partitions)]

    def is_stable() -> bool:
        try:
            return _ends(admin, names, IsolationLevel.READ_COMMITTED) == _ends(
                admin, names, IsolationLevel.READ_UNCOMMITTED
            )
        except KafkaException:
            # One of them has no leader at the moment.
            return False

    wait_until(is_stable, f"{topic} has no open transaction")


def _ends(
    admin: AdminClient, names: list[TopicPartition], level: IsolationLevel
) -> dict[TopicPartition, int]:
    of_any_type: Any = OffsetSpec
    answers = admin.list_offsets(dict.fromkeys(names, of_any_type.latest()), isolation_level=level)
    return {name: answer.result(_ANSWER_SECONDS_MAX).offset for name, answer in answers.items()}
