"""Carries out a plan, in its order, and stops at the first request of which a part is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, cast

from ottla.cli.apply.access_requests import (
    add_acls,
    delete_credential,
    remove_acls,
    set_credential,
)
from ottla.cli.apply.changes import (
    AddAcl,
    AddPartitions,
    AlterQuotas,
    AlterResource,
    AwaitMoves,
    Change,
    CreateTopic,
    DeleteCredential,
    DeleteTopic,
    MoveReplicas,
    RemoveAcl,
    SetCredential,
)
from ottla.cli.apply.config_requests import alter_resources
from ottla.cli.apply.quota_requests import alter_quotas
from ottla.cli.apply.secrets_of_files import Secrets
from ottla.cli.apply.topic_requests import (
    add_partitions,
    create_topics,
    delete_topics,
    move_replicas,
)
from ottla.cli.cluster_state.reading import moving_partitions
from ottla.cli.exit_codes import CommandError
from ottla.client.administration.admin import Admin
from ottla.runtime.clock import Clock

# As many as a cluster can well answer within the time of a request.
CHANGES_PER_REQUEST: Final = 100
# The salts of these take this process some milliseconds each, and a request has one.
_ALONE: Final = (SetCredential, DeleteCredential, AwaitMoves)
# What the cluster can check without doing it.
_VALIDATED: Final = (CreateTopic, AddPartitions, AlterResource, AlterQuotas, DeleteTopic)
_POLL_SECONDS: Final = 0.2


class ChangeResult(NamedTuple):
    """What became of a change. `error` is None if it is done."""

    change: Change
    error: CommandError | None


class Executor:
    """Sends the changes of a plan. `on_wait` is called with the number of partitions that are
    still being moved."""

    def __init__(
        self, admin: Admin, secrets: Secrets, clock: Clock, on_wait: Callable[[int], None]
    ) -> None:
        self._admin = admin
        self._secrets = secrets
        self._clock = clock
        self._on_wait = on_wait

    async def validate(self, changes: Sequence[Change]) -> list[ChangeResult]:
        """Has the cluster check what it can check without doing it; returns what it refuses."""
        refused = []
        for batch in batches(changes):
            if isinstance(batch[0], _VALIDATED):
                refused += await self._send(batch, validate_only=True)
        return [outcome for outcome in refused if outcome.error is not None]

    async def execute(
        self, changes: Sequence[Change], report: Callable[[ChangeResult], None]
    ) -> bool:
        """Reports each change. Returns whether all are done."""
        for batch in batches(changes):
            outcomes = await self._send(batch, validate_only=False)
            for outcome in outcomes:
                report(outcome)
            if any(outcome.error is not None for outcome in outcomes):
                return False
        return True

    async def _send(self, batch: Sequence[Change], *, validate_only: bool) -> list[ChangeResult]:
        match batch[0]:
            case AlterResource():
                resources = cast(Sequence[AlterResource], batch)
                refused = await alter_resources(
                    self._admin,
                    resources,
                    self._secrets,
                    validate_only=validate_only,
                )
                return [ChangeResult(each, refused.get(each.resource)) for each in resources]
            case AlterQuotas():
                entities = cast(Sequence[AlterQuotas], batch)
                failed = await alter_quotas(self._admin, entities, validate_only=validate_only)
                return [ChangeResult(each, failed.get(each.entity)) for each in entities]
            case CreateTopic() | MoveReplicas() | AddPartitions() | DeleteTopic():
                errors = await self._send_topics(batch, validate_only=validate_only)
                return [ChangeResult(change, errors.get(change.name)) for change in batch]
            case _:
                return await self._send_access(batch)

    async def _send_topics(
        self, batch: Sequence[Any], *, validate_only: bool
    ) -> dict[str, CommandError]:
        match batch[0]:
            case CreateTopic():
                return await create_topics(
                    self._admin, batch, self._secrets, validate_only=validate_only
                )
            case AddPartitions():
                return await add_partitions(self._admin, batch, validate_only=validate_only)
            case MoveReplicas():
                return await move_replicas(self._admin, batch)
            case _:
                return await delete_topics(self._admin, batch, validate_only=validate_only)

    async def _send_access(self, batch: Sequence[Change]) -> list[ChangeResult]:
        first = batch[0]
        if isinstance(first, AwaitMoves):
            await self._wait_moved(first.topics)
            return [ChangeResult(first, None)]
        if isinstance(first, SetCredential):
            error = await set_credential(self._admin, first, self._secrets)
            return [ChangeResult(first, error)]
        if isinstance(first, DeleteCredential):
            return [ChangeResult(first, await delete_credential(self._admin, first))]
        if isinstance(first, AddAcl):
            errors = await add_acls(self._admin, cast(Sequence[AddAcl], batch))
        else:
            errors = await remove_acls(self._admin, cast(Sequence[RemoveAcl], batch))
        return [ChangeResult(*pair) for pair in zip(batch, errors, strict=True)]

    async def _wait_moved(self, topics: frozenset[str]) -> None:
        """As long as it takes: the cluster goes on if this is interrupted."""
        while True:
            moving = [name for name in await moving_partitions(self._admin) if name[0] in topics]
            self._on_wait(len(moving))
            if not moving:
                return
            await self._clock.sleep(_POLL_SECONDS)


def batches(changes: Iterable[Change]) -> Iterator[Sequence[Change]]:
    """Changes of one stage that can be in one request."""
    for _, same in groupby(changes, key=lambda change: (change.stage, type(change))):
        some = list(same)
        size = 1 if isinstance(some[0], _ALONE) else CHANGES_PER_REQUEST
        yield from (some[first : first + size] for first in range(0, len(some), size))
