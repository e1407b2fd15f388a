"""The properties of delayed delivery that every history must have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ottla.simulation.history.delay_events import (
    CancelAnswered,
    CancelSent,
    DelayAnswered,
    DelayRead,
    DelaysEnded,
    DelaySent,
)
from ottla.simulation.history.history import Healed, History


class NothingIsDeliveredEarly:
    """No record becomes visible before it is due, by the clock of the leader that released it."""

    def check(self, history: History) -> Iterator[str]:
        for read in history.of(DelayRead):
            if read.due_ms is not None and read.timestamp < read.due_ms:
                early_ms = read.due_ms - read.timestamp
                yield f"{read.value!r} was delivered {early_ms} ms early, at {read.offset}"


class NothingHeldIsLost:
    """After healing, every acknowledged record that is due and was not cancelled was delivered."""

    def check(self, history: History) -> Iterator[str]:
        ends = list(history.of(DelaysEnded))
        if not ends or not any(history.of(Healed)):
            return
        open_keys: dict[bytes, dict[bytes, int | None]] = defaultdict(dict)
        keys: dict[bytes, tuple[bytes, int | None]] = {}
        for _, event in history.events:
            if isinstance(event, DelaySent):
                keys[event.value] = event.key, event.due_ms
            elif isinstance(event, DelayAnswered):
                key, due_ms = keys[event.value]
                open_keys[key][event.value] = due_ms
            elif isinstance(event, CancelSent):
                open_keys[event.key].clear()
        read = {event.value for event in history.of(DelayRead)}
        for of_key in open_keys.values():
            for value, due_ms in of_key.items():
                if value not in read and (due_ms is None or due_ms <= ends[-1].now_ms):
                    yield f"{value!r} was due and was not delivered"


class NothingHeldIsDeliveredTwice:
    """No record is delivered at two offsets."""

    def check(self, history: History) -> Iterator[str]:
        offsets: dict[tuple[str, bytes], int] = {}
        for read in history.of(DelayRead):
            first = offsets.setdefault((read.who, read.value), read.offset)
            if first != read.offset:
                yield f"{read.value!r} was delivered at {first} and at {read.offset}"


class DueTimesKeepTheirOrder:
    """Of two records with one key, the one that is due first is delivered first; if both are due at
    the same time, the one that was sent first."""

    def check(self, history: History) -> Iterator[str]:
        sent = {event.value: at for at, event in enumerate(history.of(DelaySent))}
        by_key: dict[bytes, list[DelayRead]] = defaultdict(list)
        for read in history.of(DelayRead):
            if read.due_ms is not None:
                by_key[read.key].append(read)
        for reads in by_key.values():
            for at, later in enumerate(reads):
                for earlier in reads[:at]:
                    assert earlier.due_ms is not None
                    assert later.due_ms is not None
                    if sent[later.value] < sent[earlier.value] and later.due_ms <= earlier.due_ms:
                        yield (
                            f"{later.value!r}, due at {later.due_ms}, was delivered after "
                            f"{earlier.value!r}, due at {earlier.due_ms}"
                        )


class NothingCancelledIsDelivered:
    """A record that was held when its cancellation was appended is not delivered after it."""

    def check(self, history: History) -> Iterator[str]:
        keys = {event.value: event.key for event in history.of(DelaySent)}
        held = {
            event.value: event.offset for event in history.of(DelayAnswered) if event.offset >= 0
        }
        cancelled: dict[bytes, list[int]] = defaultdict(list)
        for event in history.of(CancelAnswered):
            if event.offset >= 0:
                cancelled[event.key].append(event.offset)
        for read in history.of(DelayRead):
            at = held.get(read.value)
            for offset in cancelled[keys[read.value]] if at is not None else ():
                assert at is not None
                if at < offset < read.offset:
                    yield (
                        f"{read.value!r}, held at {at} and cancelled at {offset}, was delivered at "
                        f"{read.offset}"
                    )


DELAY_CLAIMS = (
    NothingIsDeliveredEarly(),
    NothingHeldIsLost(),
    NothingHeldIsDeliveredTwice(),
    DueTimesKeepTheirOrder(),
    NothingCancelledIsDelivered(),
)
