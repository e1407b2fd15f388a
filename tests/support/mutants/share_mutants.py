"""Bugs in share groups, planted one at a time."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

from ottla.broker.sharing.shared_partition import SharedPartition
from ottla.shares.record_state import RecordState
from ottla.shares.runs import Run
from ottla.shares.share_partition import SharePartition
from ottla.simulation.claims.share_claims import (
    DeliveriesAreLimited,
    EverythingIsShared,
    NothingFinishedIsDelivered,
    OneHolderOfALock,
)
from tests.support.mutants.planting import FAULTS_OF_COORDINATORS, Mutant


def _answers_before_storing(self: Any, change: Any, stored: Any) -> None:
    """An acknowledgement is applied in memory, and never stored."""
    if self.is_active:
        self.machine.commit(change, now=self._context.now())
    stored(None)


def _shares_locks(self: Run) -> bool:
    """Acquired records count as available."""
    return not self.state.is_terminal and self.change is None


def _accepts_of_all(self: Any, member_id: str) -> bool:
    """An acknowledgement is accepted from any member."""
    del member_id
    return self.state is RecordState.ACQUIRED and self.change is None


def _never_archives(self: Any, run: Any, wanted: RecordState, settings: Any) -> RecordState:
    del self, run, settings
    return wanted


def _archives_at_once(self: Any, run: Any, wanted: RecordState, settings: Any) -> RecordState:
    """A released record is taken for one that was delivered too often."""
    del self, run, settings
    return RecordState.ARCHIVED if wanted is RecordState.AVAILABLE else wanted


def _planted(owner: type, name: str, made: Any) -> Any:
    return partial(patch.object, owner, name, made)


def _shared_locks() -> Any:
    return patch.multiple(Run, is_free=property(_shares_locks), is_held_by=_accepts_of_all)


SHARE_MUTANTS = (
    Mutant(
        "answers acknowledgements before they are stored",
        _planted(SharedPartition, "store", _answers_before_storing),
        1,
        NothingFinishedIsDelivered,
        seeks=FAULTS_OF_COORDINATORS,
        share_members=2,
    ),
    Mutant(
        "delivers locked records",
        _shared_locks,
        1,
        OneHolderOfALock,
        seeks=FAULTS_OF_COORDINATORS,
        share_members=3,
    ),
    Mutant(
        "delivers without a limit",
        _planted(SharePartition, "_target", _never_archives),
        1,
        DeliveriesAreLimited,
        seeks=FAULTS_OF_COORDINATORS,
        share_members=2,
    ),
    Mutant(
        "archives what is released",
        _planted(SharePartition, "_target", _archives_at_once),
        1,
        EverythingIsShared,
        seeks=FAULTS_OF_COORDINATORS,
        share_members=2,
    ),
)
