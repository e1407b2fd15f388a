"""The versions in which Kafka of a metadata version reads and writes records."""

import pytest

from ottla.metadata import record_version
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
from ottla.wire.stored.cluster_metadata.topics import (
    PartitionChangeRecord,
    PartitionRecord,
    TopicRecord,
)
from tests.support.controller.cluster_images import uuid

# metadata.version: register broker, partition and partition change, as Kafka 4.3.1 answers them.
VERSIONS = {7: (1, 0), 8: (2, 0), 16: (2, 0), 17: (3, 1), 22: (3, 1), 23: (3, 2), 29: (3, 2)}


@pytest.mark.parametrize(("metadata_version", "versions"), [*VERSIONS.items(), (30, (4, 2))])
def test_metadata_version_decides(metadata_version: int, versions: tuple[int, int]) -> None:
    registration, partition = versions
    assert record_version(RegisterBrokerRecord(), metadata_version) == registration
    assert record_version(PartitionRecord(), metadata_version) == partition
    assert record_version(PartitionChangeRecord(), metadata_version) == partition
    assert record_version(TopicRecord(), metadata_version) == 0


@pytest.mark.parametrize(
    ("record", "version"),
    [
        (BrokerRegistrationChangeRecord(fenced=-1), 0),
        (BrokerRegistrationChangeRecord(in_controlled_shutdown=1), 1),
        (BrokerRegistrationChangeRecord(log_dirs=[uuid(1)]), 2),
        (BrokerRegistrationChangeRecord(cordoned_log_dirs=[]), 3),
    ],
)
def test_change_of_registration_takes_the_lowest_version(record: Message, version: int) -> None:
    assert record_version(record, 30) == version
