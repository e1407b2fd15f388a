"""Reads the cluster's metadata from the leader of the controllers: a snapshot and the log after it.

The leader sends them to any client with the right ClusterAction, and counts only the fetches of
replicas. The controllers' listener must be reachable. It may have other credentials than
the brokers' listener.
"""

from __future__ import annotations

from typing import Any, Final

from ottla.channels import ChannelError
from ottla.cli.backup.controller_nodes import ControllerNodes
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.quorum import DescribedQuorum
from ottla.client.administration.requests import node_error
from ottla.controller.metadata_log_loading import load_snapshot
from ottla.controller.record_batches import decode_batch
from ottla.controller.snapshot_file import SnapshotId
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.model import ErrorCode
from ottla.raft.messages import PARTITION, TOPIC, TOPIC_ID
from ottla.runtime.clock import Clock
from ottla.runtime.disk import Disk
from ottla.runtime.network import Address
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from ottla.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartitionSnapshot,
    FetchSnapshotRequestTopicSnapshot,
)
from ottla.wire.messages.fetch_snapshot import SnapshotId as FetchedSnapshotId
from ottla.wire.records import iterate_batches, verify_crc

_FETCH_BYTES_MAX: Final = 8 << 20
_WAIT_MS: Final = 100
_RETRY_SECONDS: Final = 0.2
_RETRIES_MAX: Final = 50
# The leader has changed.
_RETRIABLE: Final = frozenset(
    {
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.SNAPSHOT_NOT_FOUND,
        ErrorCode.POSITION_OUT_OF_RANGE,
    }
)


class MetadataReader:
    """The image of the committed metadata, which `read` brings up to date."""

    def __init__(
        self,
        admin: Admin,
        controllers: ControllerNodes,
        clock: Clock,
        disk: Disk,
        scratch_path: str,
    ) -> None:
        """`controllers` has the security of the controllers' listener."""
        self._admin = admin
        self._controllers = controllers
        self._clock = clock
        self._disk = disk
        self._scratch_path = scratch_path
        self._replay = MetadataReplay(MetadataImage())
        self._offset = 0
        self._epoch = 0

    @property
    def snapshot_id(self) -> SnapshotId:
        """The end of what was read."""
        return SnapshotId(self._offset, self._epoch)

    async def read(self) -> MetadataImage:
        """The image with everything that was committed before this call."""
        goal = (await self._quorum()).high_watermark
        for _ in range(_RETRIES_MAX):
            quorum = await self._quorum()
            if await self._read_from(quorum, goal):
                return self._replay.image
            await self._clock.sleep(_RETRY_SECONDS)
        raise CommandError("Cannot read the metadata: the controllers have no stable leader.")

    async def _quorum(self) -> DescribedQuorum:
        with doing("describe the quorum"):
            return await self._admin.describe_quorum()

    async def _read_from(self, quorum: DescribedQuorum, goal: int) -> bool:
        """False if the leader has changed."""
        address = _leader_address(quorum)
        while self._offset < goal or self._replay.is_in_transaction:
            try:
                response = await self._controllers.send(address, self._fetch_request(quorum))
            except ChannelError as error:
                raise _unreachable(address, error) from None
            if response.error_code:
                raise _refused(response.error_code)
            data: PartitionData = response.responses[0].partitions[0]
            if data.error_code:
                if data.error_code in _RETRIABLE:
                    return False
                raise _refused(data.error_code)
            if data.snapshot_id is not None and data.snapshot_id.end_offset >= 0:
                found = SnapshotId(data.snapshot_id.end_offset, data.snapshot_id.epoch)
                if not await self._read_snapshot(address, quorum, found):
                    return False
            else:
                self._take(memoryview(data.records or b""), data.high_watermark)
        return True

    def _take(self, records: memoryview, high_watermark: int) -> None:
        delta = MetadataDelta()
        for at, header in iterate_batches(records):
            if header.next_offset > high_watermark:
                return
            verify_crc(records, at, header)
            batch = decode_batch(records[at : at + header.size_in_bytes])
            if not header.is_control:
                self._replay.take(batch.records, delta)
            self._offset, self._epoch = header.next_offset, header.leader_epoch

    def _fetch_request(self, quorum: DescribedQuorum) -> FetchRequest:
        partition = FetchPartition(
            partition=PARTITION,
            current_leader_epoch=quorum.leader_epoch,
            fetch_offset=self._offset,
            last_fetched_epoch=self._epoch,
            partition_max_bytes=_FETCH_BYTES_MAX,
        )
        return FetchRequest(
            max_wait_ms=_WAIT_MS,
            max_bytes=_FETCH_BYTES_MAX,
            topics=[FetchTopic(topic=TOPIC, topic_id=TOPIC_ID, partitions=[partition])],
        )

    async def _read_snapshot(
        self, address: Address, quorum: DescribedQuorum, found: SnapshotId
    ) -> bool:
        """Replaces what was read so far. False if the leader has changed."""
        file = self._disk.open(self._scratch_path, create=True)
        try:
            file.truncate(0)
            size, position = 1, 0
            while position < size:
                chunk = await self._send(address, _snapshot_request(quorum, found, position))
                if chunk.error_code:
                    if chunk.error_code in _RETRIABLE:
                        return False
                    raise _refused(chunk.error_code)
                size = chunk.size
                position += file.write_at(position, [chunk.unaligned_records])
        finally:
            file.close()
        loaded = load_snapshot(self._disk, self._scratch_path, end_offset=found.end_offset)
        self._disk.remove(self._scratch_path)
        self._replay = loaded.replay
        self._offset, self._epoch = found
        return True

    async def _send(self, address: Address, request: FetchSnapshotRequest) -> Any:
        try:
            response = await self._controllers.send(address, request)
        except ChannelError as error:
            raise _unreachable(address, error) from None
        if response.error_code:
            raise _refused(response.error_code)
        return response.topics[0].partitions[0]


def _snapshot_request(
    quorum: DescribedQuorum, found: SnapshotId, position: int
) -> FetchSnapshotRequest:
    partition = FetchSnapshotRequestPartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=quorum.leader_epoch,
        snapshot_id=FetchedSnapshotId(end_offset=found.end_offset, epoch=found.epoch),
        position=position,
    )
    return FetchSnapshotRequest(
        max_bytes=_FETCH_BYTES_MAX,
        topics=[FetchSnapshotRequestTopicSnapshot(name=TOPIC, partitions=[partition])],
    )


def _leader_address(quorum: DescribedQuorum) -> Address:
    addresses = quorum.addresses.get(quorum.leader_id)
    if not addresses:
        raise CommandError(
            f"The address of controller {quorum.leader_id} is unknown: the quorum does not "
            "describe its listeners."
        )
    address = next(iter(addresses.values()))
    if not address.port:
        raise CommandError(
            f"Controller {quorum.leader_id} has no listener: the node formatted itself.",
            "A backup needs the metadata over the network: run the node with --config and a "
            "listener of controller.listener.names.",
        )
    return address


def _refused(error_code: int) -> CommandError:
    error = refused("read the metadata from the active controller", node_error(error_code))
    return CommandError(
        error.message,
        "If the cluster has an authorizer, the user needs ClusterAction on the cluster: ottla acls "
        "add --allow-principal USER --operation cluster-action --cluster",
    )


def _unreachable(address: Address, error: ChannelError) -> CommandError:
    return CommandError(
        f"Cannot read the metadata from the active controller at {address.host}:{address.port}: "
        f"{error}.",
        "Run the command on a host that reaches the controllers' listener. If that listener needs "
        "other credentials than the brokers', give them in a file: --controller-config FILE.",
        exit_code=ExitCode.UNREACHABLE,
    )
