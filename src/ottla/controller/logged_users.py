"""SCRAM users for the connections between controllers: those of the metadata log, committed or not.

Controllers authenticate each other before they can elect a leader, and only a leader determines
which records are committed. So they use the last credential in their own log, even if it is not
known to be committed. The log of a new cluster is empty: until it has records, the users in
bootstrap.checkpoint count, which `ottla format --add-scram` writes. Apache Kafka 4.3 does not
support SCRAM between controllers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ottla.controller.committed_metadata import CommittedMetadata
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.security import (
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

# By user name and mechanism; None for a credential that was removed.
_Changes: TypeAlias = dict[tuple[str, int], UserScramCredentialRecord | None]


class LoggedUsers:
    """Owned by the node's loop."""

    def __init__(
        self, metadata: CommittedMetadata, bootstrap_records: Callable[[], Iterable[Message]]
    ) -> None:
        """`bootstrap_records` reads bootstrap.checkpoint. It is called at most once."""
        self._metadata = metadata
        self._bootstrap_records = bootstrap_records
        self._bootstrap: _Changes | None = None
        self._changes: _Changes = {}
        self._revision = -1

    def credential(self, name: str, mechanism: int) -> UserScramCredentialRecord | None:
        key = (name, mechanism)
        changes = self._uncommitted()
        if key in changes:
            return changes[key]
        image = self._metadata.image
        if image.is_empty:
            return self._from_bootstrap().get(key)
        return image.scram_credentials.get(key)

    def _uncommitted(self) -> _Changes:
        if self._revision != self._metadata.revision:
            self._revision = self._metadata.revision
            self._changes = _changes_in(self._metadata.uncommitted_records())
        return self._changes

    def _from_bootstrap(self) -> _Changes:
        if self._bootstrap is None:
            self._bootstrap = _changes_in(self._bootstrap_records())
        return self._bootstrap


def _changes_in(records: Iterable[Message]) -> _Changes:
    changes: _Changes = {}
    for record in records:
        if isinstance(record, UserScramCredentialRecord):
            changes[record.name, record.mechanism] = record
        elif isinstance(record, RemoveUserScramCredentialRecord):
            changes[record.name, record.mechanism] = None
    return changes
