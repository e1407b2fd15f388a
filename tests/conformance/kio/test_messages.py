"""kio writes the same bytes as we do, for every message and version that it knows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.kio.entities import entity_type, kio_pairs, read, to_kio, write
from tests.support.kafka.declared_messages import class_for
from tests.support.kafka.protocol_table import layouts_by_version, message_names, read_table
from tests.support.kafka.protocol_values import Values

PAIRS = kio_pairs()
# kio 0.6.5 knows every version of every message that travels, and none of those that only rest in
# an internal log. Kafka's own classes judge all of them in tests/conformance/kafka.
PAIRS_COUNT_MIN = 625
UNKNOWN_PACKAGES = {
    "common.metadata",
    "coordinator.group.generated",
    "coordinator.share.generated",
    "coordinator.transaction.generated",
    "raft.generated",
    "server.log.remote.metadata.storage.generated",
}


def test_kio_knows_all_messages_but_those_of_internal_logs() -> None:
    all_pairs = {
        (name, version) for name in message_names() for version in layouts_by_version(name)
    }
    unknown = all_pairs - set(PAIRS)
    print(f"kio judges {len(PAIRS)} of {len(all_pairs)} messages and versions")
    assert len(PAIRS) >= PAIRS_COUNT_MIN
    assert {read_table("layouts")[name]["package"] for name, _ in unknown} <= UNKNOWN_PACKAGES


@pytest.mark.parametrize("name", sorted({name for name, _ in PAIRS}))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_our_bytes_are_kios_bytes(name: str, seed: int) -> None:
    for version in [version for known, version in PAIRS if known == name]:
        cls, kind = class_for(name, version), entity_type(name, version)
        message = Values(seed).message(cls, version)
        entity = to_kio(message, kind, version)
        ours = message.encode(version)
        assert ours == write(entity), f"{name} version {version}"
        assert read(kind, ours) == entity, f"{name} version {version}"
        assert cls.decode(ours, version) == message, f"{name} version {version}"
