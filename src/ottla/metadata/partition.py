"""The controller's state of a partition: its replicas, leader, ISR and epochs.

An immutable value, replaced by every change, so that each reference is a consistent state and two
images can share it. It is a tuple because there are very many partitions: creating one takes less
than a microsecond, and the garbage collector untracks tuples of plain values. For the same reason
equal replica lists share one object: a cluster has few different ones.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

from ottla.metadata.errors import MetadataError
from ottla.model import ZERO_UUID, Uuid
from ottla.wire.stored.cluster_metadata.topics import PartitionChangeRecord, PartitionRecord

NO_LEADER: Final = -1
LEADER_UNCHANGED: Final = -2

RECOVERED: Final = 0
# The leader was elected from outside the in-sync replicas and may lack records (KIP-704).
RECOVERING: Final = 1
RECOVERY_STATE_UNCHANGED: Final = -1

# Reserved directory ids (KIP-858): for replicas from before directories were assigned, for replicas
# whose broker has not chosen a directory yet, and for those whose log is lost.
MIGRATING_DIRECTORY: Final = ZERO_UUID
UNASSIGNED_DIRECTORY: Final = Uuid(bytes(15) + b"\x01")
LOST_DIRECTORY: Final = Uuid(bytes(15) + b"\x02")

# Maps each tuple to itself, to replace a new tuple by an equal existing one.
SharedTuples: TypeAlias = dict[tuple[Any, ...], tuple[Any, ...]]


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

    @property
    def complete_replicas(self) -> tuple[int, ...]:
        """Those that can be elected without loss."""
        return self.isr + self.eligible_leader_replicas

    def directory_of(self, replica: int) -> Uuid:
        return self.directories[self.replicas.index(replica)]

    @classmethod
    def from_record(cls, record: PartitionRecord, shared: SharedTuples) -> PartitionRegistration:
        known = shared.setdefault
        replicas = tuple(record.replicas)
        isr = tuple(record.isr)
        directories = _place(replicas, tuple(record.directories))
        return cls._make(
            (
                known(replicas, replicas),
                known(isr, isr),
                record.leader,
                record.leader_epoch,
                record.partition_epoch,
                known(directories, directories),
                tuple(record.removing_replicas),
                tuple(record.adding_replicas),
                record.leader_recovery_state,
                tuple(record.eligible_leader_replicas or ()),
                tuple(record.last_known_elr or ()),
            )
        )

    def changed_by(
        self, record: PartitionChangeRecord, shared: SharedTuples
    ) -> PartitionRegistration:
        """The partition after a change. If the record has a leader, even the same one, a new leader
        epoch begins."""

        def changed(old: tuple[Any, ...], new: list[Any] | None) -> tuple[Any, ...]:
            return old if new is None else shared.setdefault(known := tuple(new), known)

        replicas = changed(self.replicas, record.replicas)
        directories = _place(replicas, changed(self.directories, record.directories))
        has_new_leader = record.leader != LEADER_UNCHANGED
        recovery = record.leader_recovery_state
        return PartitionRegistration(
            replicas,
            changed(self.isr, record.isr),
            record.leader if has_new_leader else self.leader,
            self.leader_epoch + has_new_leader,
            self.partition_epoch + 1,
            directories,
            changed(self.removing_replicas, record.removing_replicas),
            changed(self.adding_replicas, record.adding_replicas),
            self.leader_recovery_state if recovery == RECOVERY_STATE_UNCHANGED else recovery,
            changed(self.eligible_leader_replicas, record.eligible_leader_replicas),
            changed(self.last_known_elr, record.last_known_elr),
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


def _place(replicas: tuple[int, ...], directories: tuple[Uuid, ...]) -> tuple[Uuid, ...]:
    """A directory for each replica. Records from before KIP-858 have none."""
    if directories.count(MIGRATING_DIRECTORY) == len(directories):
        return (MIGRATING_DIRECTORY,) * len(replicas)
    if len(directories) != len(replicas):
        raise MetadataError(
            f"replicas ({len(replicas)}) and directory ids ({len(directories)}) differ in number"
        )
    return directories
