"""The audit log: who did what, from where, and whether it was allowed. One JSON object per line.

    {"time": "2027-01-31T12:00:00.123Z", "event": "authentication", "principal": "User:alice",
     "host": "192.0.2.7", "listener": "CLIENTS", "mechanism": "SCRAM-SHA-512", "allowed": true}
    {"time": ..., "event": "authorization", "principal": "User:alice", "host": "192.0.2.7",
     "operation": "READ", "resource_type": "TOPIC", "resource": "orders", "allowed": false}
    {"time": ..., "event": "dropped", "dropped": 12}

A session's decision about a resource is logged once, until an ACL changes. A resource of null is
any resource of the type. The principal of a failed authentication is null, because a client that
has not authenticated may claim any name, and may send a password in place of its name.

The event loop only queues entries. A worker writes them in batches. If entries arrive faster than
they can be written, or cannot be written at all, they are dropped, and a line has their number. So
are failed authentications beyond `_FAILURES_MAX` a second: anyone can cause them, and a flood of
them would soon replace the oldest files.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Final, TypeAlias

from ottla.broker.control.authentication import Authentication
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.controller.quorum_seams import Seams
from ottla.runtime.clock import Timer
from ottla.runtime.rotating_file import RotatingFile
from ottla.security.acls.acl import AclOperation
from ottla.security.acls.rights import AclResource
from ottla.security.principal import Principal

_log = logging.getLogger(__name__)

Entry: TypeAlias = Mapping[str, str | int | bool | None]

_BATCH_SECONDS: Final = 0.1
# Bounds the memory of entries that wait to be written. A client chooses the names of resources.
_QUEUED_CHARACTERS_MAX: Final = 4 << 20
_CHARACTERS_PER_ENTRY: Final = 400
# In a day, about as much as the files may hold by default.
_FAILURES_MAX: Final = 50
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


class AuditLog:
    """Owned by the node's loop. Takes entries until `close`."""

    def __init__(self, file: RotatingFile, seams: Seams) -> None:
        self._file = file
        self._clock = seams.clock
        self._background = seams.background
        self._tasks = seams.tasks
        self._entries: list[Entry] = []
        self._queued_characters = 0
        self._dropped = 0
        self._failures = 0
        self._failures_since = -inf
        self._timer: Timer | None = None
        self._writing: asyncio.Task[object] | None = None
        self._is_closed = False

    def decided(
        self,
        principal: Principal,
        host: str,
        operation: AclOperation,
        resource: AclResource,
        is_allowed: bool,
    ) -> None:
        """Logs a decision of the authorizer."""
        self._add(
            "authorization",
            {
                "principal": str(principal),
                "host": host,
                "operation": operation.name,
                "resource_type": resource.type.name,
                "resource": resource.name,
                "allowed": is_allowed,
            },
        )

    def authenticated(self, outcome: Authentication) -> None:
        """Logs an authentication that succeeded or failed."""
        if outcome.failure is not None and self._has_too_many_failures():
            self._dropped += 1
            self._write_soon()
            return
        entry: dict[str, str | int | bool | None] = {
            "principal": None if outcome.principal is None else str(outcome.principal),
            "host": outcome.host,
            "listener": outcome.listener,
            "mechanism": outcome.mechanism,
            "allowed": outcome.failure is None,
        }
        if outcome.failure is not None:
            entry["reason"] = outcome.failure
        self._add("authentication", entry)

    def _has_too_many_failures(self) -> bool:
        now = self._clock.monotonic()
        if now - self._failures_since >= 1:
            self._failures_since, self._failures = now, 0
        self._failures += 1
        return self._failures > _FAILURES_MAX

    async def close(self) -> None:
        """Writes what is queued. Call it before the node's tasks are cancelled."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing is not None:
            await asyncio.wait([self._writing])
        if self._entries or self._dropped:
            await self._write()
        await self._background.run(self._file.close)

    def _add(self, event: str, fields: Entry) -> None:
        size = _CHARACTERS_PER_ENTRY + sum(len(v) for v in fields.values() if isinstance(v, str))
        if self._is_closed or self._queued_characters + size > _QUEUED_CHARACTERS_MAX:
            self._dropped += 1
            return
        self._queued_characters += size
        self._entries.append({"time": self._clock.now_ms(), "event": event, **fields})
        self._write_soon()

    def _write_soon(self) -> None:
        if self._timer is None and self._writing is None and not self._is_closed:
            self._timer = self._clock.call_later(_BATCH_SECONDS, self._begin_write)

    def _begin_write(self) -> None:
        self._timer = None
        if not self._tasks.is_closed:
            self._writing = self._tasks.start("audit log", self._write())

    async def _write(self) -> None:
        entries, self._entries = self._entries, []
        dropped, self._dropped = self._dropped, 0
        self._queued_characters = 0
        lines = list(entries)
        if dropped:
            lines.append({"time": self._clock.now_ms(), "event": "dropped", "dropped": dropped})
        try:
            await self._background.run(_append, self._file, lines)
        except OSError as error:
            self._dropped += dropped + len(entries)
            _log.error("audit log entries lost: %d; cannot write them: %s", len(entries), error)
        finally:
            self._writing = None
        if self._entries:
            self._write_soon()


def open_audit_log(path: str, config: NodeConfig, seams: Seams) -> AuditLog:
    """Raises InvalidConfigError if the file cannot be opened."""
    try:
        file = RotatingFile(
            seams.disk,
            path,
            bytes_max=config.audit_log_bytes_max,
            files_max=config.audit_log_files_max,
        )
    except OSError as error:
        raise InvalidConfigError(
            f"ottla.audit.log: {path} cannot be written ({error.strerror}); name a file in an "
            "existing directory that the node may write to"
        ) from None
    return AuditLog(file, seams)


def _append(file: RotatingFile, entries: Sequence[Entry]) -> None:
    file.append(map(_line, entries))


def _line(entry: Entry) -> bytes:
    milliseconds = entry["time"]
    assert isinstance(milliseconds, int)
    time = (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")
    # Other characters than ASCII are escaped, and so are line ends and terminal codes.
    return json.dumps(
        {**entry, "time": time.replace("+00:00", "Z")}, separators=(",", ":")
    ).encode()
