"""The controller: changes the cluster's metadata, one operation after the other.

    inactive ──its node leads the quorum──▶ active ──another node leads──▶ inactive

    submitted ──append, propose──▶ waiting ──committed by the quorum──▶ answered

There are two images. Operations use the proposed image, which includes all appended records, so
that each operation sees the ones before it. All other code uses the committed image, which never
shows a record that a crash or another leader could undo. The two images share their values, so the
second one costs little memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import NamedTuple, TypeVar

from ottla.configs import ConfigResourceType, InvalidConfigError, NodeConfig
from ottla.controller.bootstrap import first_records, read_bootstrap_records
from ottla.controller.mutation_quotas import UNLIMITED, MutationQuota, MutationQuotas
from ottla.controller.operation import Context, Operation
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.quorum_seams import Seams
from ottla.controller.topic_descriptions import TopicDescriptions
from ottla.metadata import MetadataDelta, MetadataImage, MetadataReplay
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.transactions import AbortTransactionRecord

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

_log = logging.getLogger(__name__)


class OutcomeUnknownError(KafkaError):
    """The controller was deposed before the records of an operation were committed. The next one
    may commit them or not."""


class _Waiting(NamedTuple):
    """An operation that waits until its records are committed."""

    end_offset: int
    answered: asyncio.Future[None]


class Controller:
    """Active while its node leads the quorum, which calls `activate` and `deactivate`. Owned by one
    event loop."""

    def __init__(
        self, seams: Seams, quorum: MetadataQuorum, *, cluster_id: str, node: NodeConfig
    ) -> None:
        self.cluster_id = cluster_id
        self.quorum = quorum
        self._seams = seams
        self._started_with = node
        self._node = node
        self._descriptions = TopicDescriptions(node)
        self.mutation_quotas = MutationQuotas(quorum.metadata, seams.clock, node)
        # The image that operations use. None while another node's controller is active.
        self._proposed: MetadataReplay | None = None
        self._waiting: deque[_Waiting] = deque()

    @property
    def is_active(self) -> bool:
        return self._proposed is not None

    @property
    def node(self) -> NodeConfig:
        """The config of the controller's own node, including dynamic configs from the image."""
        return self._node

    @property
    def proposed_image(self) -> MetadataImage:
        """The cluster as the active controller sees it, including uncommitted records."""
        assert self._proposed is not None, "only the active controller proposes"
        return self._proposed.image

    # ---- callbacks of the quorum

    def activate(self, epoch: int) -> None:
        _log.info("this node is the active controller, in epoch %d", epoch)
        metadata = self.quorum.metadata
        self._proposed = metadata.replay_appended()
        self._follow_broker_configs()
        if metadata.is_in_transaction:
            # The previous controller began it and can no longer end it.
            self._propose([AbortTransactionRecord(reason="Controller failover")])
        if metadata.image.is_empty:
            bootstrap = read_bootstrap_records(
                self._seams.disk, self._started_with.metadata_log_dir
            )
            minimum = self._started_with.min_insync_replicas
            self._propose(first_records(bootstrap, min_insync_replicas=minimum))

    def deactivate(self) -> None:
        """Waiting operations fail with `OutcomeUnknownError`."""
        self._proposed = None
        waiting, self._waiting = self._waiting, deque()
        for each in waiting:
            if not each.answered.done():
                each.answered.set_exception(_outcome_unknown())

    def committed(self, end_offset: int) -> None:
        while self._waiting and self._waiting[0].end_offset <= end_offset:
            answered = self._waiting.popleft().answered
            if not answered.done():
                answered.set_result(None)

    # ---- operations

    async def submit(
        self,
        operation: Operation[Request, Response],
        request: Request,
        rights: Rights = UNRESTRICTED,
        quota: MutationQuota = UNLIMITED,
    ) -> Response:
        """Runs an operation and returns its response once the result is committed.

        A response without changes also waits for commit, since it depends on uncommitted records.
        Raises `KafkaError`: NOT_CONTROLLER if another node is the active controller, as an
        `OutcomeUnknownError` if it became active before the commit. If the disk is full
        (KAFKA_STORAGE_ERROR) or the records are invalid (UNKNOWN_SERVER_ERROR), nothing has
        changed.
        """
        if self._proposed is None:
            raise not_controller()
        quorum = self.quorum
        context = Context(
            cluster_id=self.cluster_id,
            node=self._node,
            descriptions=self._descriptions,
            dice=self._seams.dice,
            next_offset=quorum.log.log_end_offset,
            now_ms=self._seams.clock.now_ms(),
            rights=rights,
            quota=quota,
        )
        records, response = operation(self._proposed.image, request, context)
        if records:
            self._propose(records)
        if quorum.metadata.end_offset < quorum.log.log_end_offset:
            await self._wait_committed()
        return response

    def _propose(self, records: list[Message]) -> None:
        """Applies the records to the proposed image first, so that only valid records reach the
        log."""
        assert self._proposed is not None
        version, delta = self._proposed.image.metadata_version, MetadataDelta()
        try:
            self._proposed.take(records, delta)
            self.quorum.append(records, metadata_version=version)
        except Exception as error:
            raise self._withdraw(error) from error
        if self._proposed is None:
            raise _outcome_unknown()
        if any(each.type is ConfigResourceType.BROKER for each in delta.configs_changed):
            self._follow_broker_configs()

    def _withdraw(self, error: Exception) -> KafkaError:
        """Resets the proposed image to the appended records, and returns the error for the
        client."""
        if self._proposed is not None:
            self._proposed = self.quorum.metadata.replay_appended()
        if isinstance(error, OSError):
            return KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the metadata could not be written: {error}"
            )
        _log.error("rejected invalid metadata records", exc_info=error)
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"invalid metadata records: {error}")

    async def _wait_committed(self) -> None:
        answered = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(self.quorum.log.log_end_offset, answered))
        await answered

    def _follow_broker_configs(self) -> None:
        """Applies the current dynamic broker configs to `node`; invalid ones are ignored."""
        image = self.proposed_image
        broker = image.broker_configs(self._started_with.node_id)
        try:
            self._node = self._started_with.with_dynamic(
                cluster=image.cluster_configs, broker=broker
            )
        except InvalidConfigError as error:
            _log.warning("ignoring stored broker configs: %s", error.message)
        else:
            self._descriptions = TopicDescriptions(self._node)


def _outcome_unknown() -> OutcomeUnknownError:
    return OutcomeUnknownError(
        ErrorCode.NOT_CONTROLLER,
        "another controller became active before this change was committed",
    )


def not_controller() -> KafkaError:
    return KafkaError(
        ErrorCode.NOT_CONTROLLER,
        "this node is not the active controller; send the request to the active controller",
    )
