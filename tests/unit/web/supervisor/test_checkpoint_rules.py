"""Whether a new version of a definition can keep its checkpoint."""

from __future__ import annotations

from msgspec.structs import replace

from ottla.web.supervisor.model.checkpoint_rules import compare
from ottla.web.supervisor.model.deployment import QueryShape

COUNTS = QueryShape(
    name="counts",
    sink="topic counts",
    mode="update",
    sources=("topic orders",),
    state=("Aggregate [shop], [shop, count(1) AS n]",),
)
COPIES = QueryShape(name="copies", sink="topic copies", mode="append", sources=("topic orders",))


def test_the_same_queries_keep_their_checkpoints() -> None:
    verdict = compare([COUNTS, COPIES], [COPIES, COUNTS])
    assert verdict.can_be_kept
    assert verdict.notes == ()


def test_another_source_needs_a_new_checkpoint() -> None:
    verdict = compare([COPIES], [replace(COPIES, sources=("topic orders", "topic returns"))])
    assert verdict.reasons == (
        "copies reads topic orders, topic returns, but the checkpoint has offsets of topic orders",
    )


def test_other_state_needs_a_new_checkpoint() -> None:
    verdict = compare([COUNTS], [replace(COUNTS, state=())])
    assert verdict.reasons == (
        "counts keeps the state none, but the checkpoint has "
        "Aggregate [shop], [shop, count(1) AS n]",
    )


def test_the_mode_matters_only_with_state() -> None:
    assert not compare([COUNTS], [replace(COUNTS, mode="complete")]).can_be_kept
    assert compare([COPIES], [replace(COPIES, mode="update")]).can_be_kept


def test_queries_that_come_and_go_and_other_sinks_are_noted() -> None:
    verdict = compare(
        [COUNTS, COPIES], [replace(COUNTS, sink="topic totals"), replace(COPIES, name="new")]
    )
    assert verdict.can_be_kept
    assert verdict.notes == (
        "counts goes on in topic totals; what was written to topic counts stays",
        "the query new is new, and begins at the start of its sources",
        "the query copies is removed",
    )
