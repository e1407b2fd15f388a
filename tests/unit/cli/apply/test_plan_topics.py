"""Plans of topics: what changes, what is refused, and in which order."""

from __future__ import annotations

from itertools import product

import pytest

from ottla.cli.apply.changes import (
    AddPartitions,
    AlterResource,
    AwaitMoves,
    Change,
    CreateTopic,
    DeleteTopic,
    MoveReplicas,
)
from ottla.cli.apply.plan import ApplyPlan, make_plan
from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.cluster_state.present import PresentPartition, PresentState, PresentTopic
from tests.support.apply.model_cluster import TOPIC_CONFIGS, ModelCluster, with_set

RACKS = {1: "a", 2: "b", 3: "c"}
MIN_INSYNC = "min.insync.replicas"


def present(*replicas: tuple[int, ...], is_moving: bool = False, **configs: str) -> PresentState:
    """A cluster with the topic `orders`."""
    partitions = tuple(PresentPartition(each, is_moving) for each in replicas)
    values = {name.replace("_", "."): value for name, value in configs.items()}
    topic = PresentTopic(partitions, configs=with_set(TOPIC_CONFIGS, values))
    return PresentState(brokers=RACKS, topics={"orders": topic})


def planned(text: str, state: PresentState, *, is_pruning: bool = False) -> ApplyPlan:
    desired, mistakes = parse_files([("f.yaml", text)])
    assert not mistakes
    return make_plan(desired, state, is_pruning=is_pruning)


def kinds(changes: tuple[Change, ...]) -> list[type[Change]]:
    return [type(change) for change in changes]


def test_partitions_are_added_and_never_removed() -> None:
    state = present((1, 2), (2, 3))
    (change,) = planned("topics: {orders: {partitions: 3}}", state).changes
    assert isinstance(change, AddPartitions)
    assert (change.before, change.count, change.assignment) == (2, 3, None)
    plan = planned("topics:\n  orders:\n    partitions: 1\n", state)
    (mistake,) = plan.mistakes
    assert str(mistake).startswith(
        "f.yaml:2: topic orders has 2 partitions, and the file says 1: partitions cannot be removed"
    )


def test_new_partitions_wait_for_the_moves_that_set_their_replication_factor() -> None:
    plan = planned("topics: {orders: {partitions: 2, replication_factor: 3}}", present((2,)))
    assert kinds(plan.changes) == [MoveReplicas, AwaitMoves, AddPartitions]


def test_a_higher_replication_factor_keeps_replicas_and_uses_other_racks() -> None:
    plan = planned("topics: {orders: {replication_factor: 2}}", present((2,), (1, 3)))
    move = plan.changes[0]
    assert isinstance(move, MoveReplicas)
    assert list(move.moves) == [0]
    before, after = move.moves[0]
    assert before == (2,)
    assert after[0] == 2
    assert len(set(after)) == 2


def test_a_lower_replication_factor_drops_replicas_on_dead_brokers_first() -> None:
    plan = planned("topics: {orders: {replication_factor: 2}}", present((9, 1, 3)))
    move = plan.changes[0]
    assert isinstance(move, MoveReplicas)
    assert move.moves[0] == ((9, 1, 3), (1, 3))


def test_an_explicit_assignment_moves_replicas_and_places_new_partitions() -> None:
    text = "topics: {orders: {assignment: [[1, 2], [3, 2], [3, 1]]}}"
    plan = planned(text, present((1, 2), (2, 3)))
    move, _, added = plan.changes
    assert isinstance(move, MoveReplicas)
    assert move.moves == {1: ((2, 3), (3, 2))}
    assert isinstance(added, AddPartitions)
    assert added.assignment == ((3, 1),)


@pytest.mark.parametrize(
    ("topic", "complaint"),
    [
        ("replication_factor: 4", "has replication_factor 4, and the cluster 3 running brokers"),
        ("assignment: [[1, 9]]", "has broker 9, which is not running; running brokers are 1, 2, 3"),
        (
            "configs: {retention.msec: 1}",
            "no config retention.msec of topic orders; did",
        ),
        ("configs: {retention.ms: 1d}", "retention.ms of topic orders is '1d': Not a number of"),
    ],
)
def test_what_the_cluster_cannot_have_is_refused_with_its_line(topic: str, complaint: str) -> None:
    plan = planned(f"topics:\n  orders: {{{topic}}}\n", present((1,)))
    (mistake,) = plan.mistakes
    assert str(mistake).startswith("f.yaml:2: ")
    assert complaint in mistake.message


def test_equal_values_are_equal_however_they_are_written() -> None:
    state = present((1,), cleanup_policy="compact,delete", preallocate="true", retention_ms="10")
    text = 'topics: {orders: {configs: {cleanup.policy: "compact, delete", preallocate: TRUE, '
    assert planned(text + "retention.ms: +10}}}", state).is_empty
    assert planned(text.replace('"compact, delete"', "[compact, delete]") + "}}}", state).is_empty


def test_a_config_of_the_file_is_set_even_if_it_is_the_default() -> None:
    (change,) = planned(
        "topics: {orders: {configs: {cleanup.policy: delete}}}", present((1,))
    ).changes
    assert isinstance(change, AlterResource)
    assert not change.configs[0].was_set


def test_what_the_file_lacks_is_kept_unless_it_is_pruned() -> None:
    state = present((1,), retention_ms="10")
    text = "topics: {orders: }"
    plan = planned(text, state)
    assert plan.is_empty
    assert plan.kept == ("retention.ms of topic orders",)
    (change,) = planned(text, state, is_pruning=True).changes
    assert isinstance(change, AlterResource)
    assert change.configs[0].is_deletion


@pytest.mark.parametrize(
    ("manages", "is_deleted"),
    [("", False), ("manages: {topics: [o*]}", True), ("manages: {topics: [order]}", False)],
)
def test_only_topics_that_the_file_manages_are_deleted(manages: str, is_deleted: bool) -> None:
    text = f"{manages}\ntopics: {{billing: }}\n"
    plan = planned(text, present((1,)), is_pruning=True)
    assert kinds(plan.changes) == [CreateTopic, *([DeleteTopic] if is_deleted else [])]


def test_internal_topics_are_never_deleted() -> None:
    topic = PresentTopic((PresentPartition((1,)),))
    state = PresentState(brokers=RACKS, topics={"__consumer_offsets": topic})
    plan = planned("manages: {topics: ['*']}", state, is_pruning=True)
    assert plan.is_empty


def test_moves_of_an_interrupted_run_are_awaited_before_min_insync_replicas_is_raised() -> None:
    text = f"topics: {{orders: {{replication_factor: 2, configs: {{{MIN_INSYNC}: 2}}}}}}"
    plan = planned(text, present((1, 2), is_moving=True))
    assert kinds(plan.changes) == [AwaitMoves, AlterResource]
    assert planned("topics: {orders: }", present((1, 2), is_moving=True)).moving == ("orders",)


def test_topics_that_accept_records_before_and_after_accept_them_throughout() -> None:
    """Records with acks=all, for all changes of the replication factor and min.insync.replicas."""
    for before, after, low, high in product((1, 2, 3), repeat=4):
        state = present(tuple(range(1, before + 1)), min_insync_replicas=str(low))
        text = f"replication_factor: {after}, configs: {{{MIN_INSYNC}: {high}}}"
        plan = planned(f"topics: {{orders: {{{text}}}}}", state)
        if low > before or high > after:
            continue
        cluster = ModelCluster(state)
        for change in plan.changes:
            cluster.make(change)
            needed = cluster.state.topics["orders"].configs[MIN_INSYNC].value
            assert cluster.in_sync_count("orders", 0) >= int(needed or 0), (
                before,
                after,
                low,
                high,
            )


def test_a_killed_move_goes_where_the_first_run_began_to_move_it() -> None:
    """Whatever part of the partitions was moved."""
    state = present((1,), (1,), (2,), (3,))
    text = "topics: {orders: {replication_factor: 2}}"
    plan = planned(text, state)
    straight = ModelCluster(state)
    for change in plan.changes:
        straight.make(change)
    for steps in range(5):
        killed = ModelCluster(state)
        killed.make_some(plan.changes, steps)
        for change in planned(text, killed.state).changes:
            killed.make(change)
        assert killed.settled() == straight.settled()
