"""What became of acknowledged changes of ACLs, credentials and delegation tokens.

Each entry is a register. The active controller writes its log in the order in which it begins the
changes, so a change that it acknowledged replaces all that were begun before. A change that was
begun later and not acknowledged up to an offset may or may not be in the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ottla.simulation.history.history import History
from ottla.simulation.history.security_events import (
    ABSENT,
    PRESENT,
    UNKNOWN,
    AclsKnown,
    CredentialsKnown,
    SecurityChange,
    SecurityChangeAnswered,
    acl_key,
)


@dataclass(slots=True)
class _Change:
    """A change of one register. `offset` is None until it is acknowledged."""

    value: str
    offset: int | None = None
    is_refused: bool = False


@dataclass(slots=True)
class _Registers:
    """All changes so far, by key, in the order in which they began."""

    changes: defaultdict[str, list[_Change]] = field(default_factory=lambda: defaultdict(list))
    under_way: dict[tuple[str, int], dict[str, _Change]] = field(default_factory=dict)

    def begin(self, event: SecurityChange) -> None:
        begun = {key: _Change(value) for key, value in event.changes}
        self.under_way[event.who, event.number] = begun
        for key, change in begun.items():
            self.changes[key].append(change)

    def answer(self, event: SecurityChangeAnswered) -> None:
        begun = self.under_way.pop((event.who, event.number), {})
        for key, value in event.changes:
            change = begun.pop(key, None)
            if change is None:
                # A new token, whose key was not known before.
                change = _Change(value)
                self.changes[key].append(change)
            change.value, change.offset = value, event.offset
        for change in begun.values():
            change.is_refused = True

    def violations(self, values: Mapping[str, str], offset: int, kind: str) -> Iterator[str]:
        """What an image with these values at that offset violates."""
        for key, changes in self.changes.items():
            if key.startswith(kind):
                allowed = _allowed(changes, offset)
                value = values.get(key, ABSENT)
                if allowed and value not in allowed and UNKNOWN not in allowed:
                    yield f"{key} is {value or 'absent'} instead of {' or '.join(sorted(allowed))}"


class AcknowledgedSecurityIsKept:
    """Changes of ACLs, credentials and tokens that a controller acknowledged are in every image
    with that offset, until they are changed again. Refused changes have no effect."""

    def check(self, history: History) -> Iterator[str]:
        registers = _Registers()
        for _, event in history.events:
            if isinstance(event, SecurityChange):
                registers.begin(event)
            elif isinstance(event, SecurityChangeAnswered):
                registers.answer(event)
            elif isinstance(event, AclsKnown) and event.acls is not None:
                values = dict.fromkeys(map(acl_key, event.acls), PRESENT)
                for text in registers.violations(values, event.offset, "ACL"):
                    yield f"at offset {event.offset} of {event.who}, {text}"
            elif isinstance(event, CredentialsKnown) and event.credentials is not None:
                values = {each.key: each.stored_key for each in event.credentials}
                for text in registers.violations(values, event.offset, "credential"):
                    yield f"at offset {event.offset} of {event.who}, {text}"
                values = {each.key: str(each.expires_at_ms) for each in event.tokens}
                for text in registers.violations(values, event.offset, "token"):
                    yield f"at offset {event.offset} of {event.who}, {text}"


def _allowed(changes: list[_Change], offset: int) -> set[str]:
    """The values that a register may have; none before its first acknowledged change."""
    last, later = None, list[_Change]()
    for change in changes:
        if change.offset is not None and change.offset <= offset:
            last, later = change, []
        elif not change.is_refused:
            later.append(change)
    return set() if last is None else {last.value, *(change.value for change in later)}
