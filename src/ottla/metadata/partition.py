"""A partition as the controller knows it: its replicas, its leader, who is in sync.

An immutable value, replaced by every change, so that whoever holds one holds a consistent picture
and two images can share it. It is a tuple because there are very many of them: making one takes
less than a microsecond, and the collector leaves tuples of plain values alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.metadata.errors import MetadataError
from ottla.model import ZERO_UUID, Uuid
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord, PartitionRecord

NO_LEADER: Final = -1
LEADER_UNCHANGED: Final = -2

RECOVERED: Final = 0
# The leader was elected from outside the in-sync replicas and may lack records (KIP-704).
RECOVERING: Final = 1
RECOVERY_STATE_UNCHANGED: Final = -1

# Replicas from before a broker could have several log directories (KIP-858), and replicas whose
# broker has yet to choose one.
MIGRATING_DIRECTORY: Final = ZERO_UUID
UNASSIGNED_DIRECTORY: Final = Uuid(bytes(15) + b"\x01")


class PartitionRegistration(NamedTuple):
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[Uuid, ...]
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = RECOVERED
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @property
    def preferred_leader(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    def directory_of(self, replica: int) -> Uuid:
        return self.directories[self.replicas.index(replica)]

    @classmethod
    def from_record(cls, record: PartitionRecord) -> PartitionRegistration:
        replicas = tuple(record.replicas)
        isr = tuple(record.isr)
        directories = tuple(record.directories) or (MIGRATING_DIRECTORY,) * len(replicas)
        if len(directories) != len(replicas):
            raise _mismatch(record.partition_id, replicas=replicas, directories=directories)
        return cls(
            replicas,
            replicas if isr == replicas else isr,
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            directories,
            tuple(record.removing_replicas),
            tuple(record.adding_replicas),
            record.leader_recovery_state,
            tuple(record.eligible_leader_replicas or ()),
            tuple(record.last_known_elr or ()),
        )

    def changed_by(self, record: PartitionChangeRecord) -> PartitionRegistration:
        """The partition after a change. Naming a leader, the same one too, begins a new epoch."""
        replicas = _changed(self.replicas, record.replicas)
        directories = self.directories
        if record.directories is not None:
            directories = tuple(record.directories) or (MIGRATING_DIRECTORY,) * len(replicas)
        if len(directories) != len(replicas):
            raise _mismatch(record.partition_id, replicas=replicas, directories=directories)
        has_new_leader = record.leader != LEADER_UNCHANGED
        recovery = record.leader_recovery_state
        return PartitionRegistration(
            replicas,
            _changed(self.isr, record.isr),
            record.leader if has_new_leader else self.leader,
            self.leader_epoch + has_new_leader,
            self.partition_epoch + 1,
            directories,
            _changed(self.removing_replicas, record.removing_replicas),
            _changed(self.adding_replicas, record.adding_replicas),
            self.leader_recovery_state if recovery == RECOVERY_STATE_UNCHANGED else recovery,
            _changed(self.eligible_leader_replicas, record.eligible_leader_replicas),
            _changed(self.last_known_elr, record.last_known_elr),
        )

    def to_record(self, topic_id: Uuid, partition_id: int) -> PartitionRecord:
        return PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            removing_replicas=list(self.removing_replicas),
            adding_replicas=list(self.adding_replicas),
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=list(self.directories),
            eligible_leader_replicas=list(self.eligible_leader_replicas) or None,
            last_known_elr=list(self.last_known_elr) or None,
        )


def _changed(old: tuple[int, ...], new: list[int] | None) -> tuple[int, ...]:
    return old if new is None else tuple(new)


def _mismatch(
    partition_id: int, *, replicas: tuple[int, ...], directories: tuple[Uuid, ...]
) -> MetadataError:
    return MetadataError(
        f"partition {partition_id} has {len(replicas)} replicas in {len(directories)} directories"
    )
