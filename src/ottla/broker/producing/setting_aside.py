"""Sets aside the batches of a Produce request that the checks of schemas found to be bad.

A duplicate is looked up in the log: if its place is there, the batch was set aside before, and
maybe its letter was not written. It is written then, whatever the checks say by now.
"""

from __future__ import annotations

from ottla.broker.producing.opened_produce import OpenedOutcome
from ottla.broker.validation.set_asides import SetAside, place_at
from ottla.broker.validation.validations import Validations
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.storage.batches.opened_batch import OpenedBatch
from ottla.storage.log.append_result import AppendResult


def set_aside_of(
    validations: Validations,
    partition: Partition,
    known: OpenedOutcome | None,
    result: AppendResult,
) -> SetAside | None:
    """What to write to a dead letter topic after this append, if anything. Raises KafkaError."""
    if not result.is_duplicate:
        return known if isinstance(known, SetAside) else None
    if place_at(partition, result.first_offset) is None:
        return None
    if isinstance(known, SetAside):
        return known
    rules = partition.require_log().config.schema_rules
    if not isinstance(known, OpenedBatch) or rules is None or not rules.dead_letter_topic:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            "the batch cannot be written to a dead letter topic: its topic has none any more",
        )
    return validations.validation.set_aside_again(partition.name, known)
