"""`ottla apply` and `ottla export` over random states of a cluster in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.cli.apply.plan import ApplyPlan, make_plan
from ottla.cli.cluster_file.desired import DesiredState
from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.cluster_state.present import PresentState, set_configs
from ottla.cli.export.document import cluster_document
from ottla.security.acls.acl import ANY_PRINCIPAL, AclBinding, AclOperation, Permission
from tests.support.apply.cluster_states import acls, reachable_from, states
from tests.support.apply.model_cluster import ModelCluster
from tests.support.soak import at_scale

STEPS_MAX: Final = 40
# Making a random state is most of the work.
checked = settings(
    max_examples=at_scale(quick=60, soak=1_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def asked_for(text: str) -> DesiredState:
    desired, mistakes = parse_files([("cluster.yaml", text)])
    assert not mistakes, text
    return desired


def file_for(wanted: PresentState) -> DesiredState:
    """What a user makes of an export: with passwords for the users and secrets."""
    text = cluster_document(wanted).replace("sensitive: true", "password_env: SECRET")
    return asked_for(text.replace("    mechanisms:", "    password_env: SECRET\n    mechanisms:"))


def planned(desired: DesiredState, present: PresentState, *, is_pruning: bool) -> ApplyPlan:
    plan = make_plan(desired, present, is_pruning=is_pruning)
    assert not plan.mistakes
    return plan


@checked
@given(states, st.booleans())
def test_applying_an_export_changes_nothing(state: PresentState, is_pruning: bool) -> None:
    text = cluster_document(state)
    plan = planned(asked_for(text), state, is_pruning=is_pruning)
    assert plan.is_empty
    assert not plan.kept
    assert cluster_document(state) == text


@checked
@given(states, states, st.integers(0, STEPS_MAX), st.booleans())
def test_a_killed_run_that_is_repeated_ends_as_one_that_was_not_killed(
    present: PresentState, wanted: PresentState, steps: int, is_pruning: bool
) -> None:
    desired = file_for(reachable_from(wanted, present))
    straight, killed = ModelCluster(present), ModelCluster(present)
    plan = planned(desired, present, is_pruning=is_pruning)
    for change in plan.changes:
        straight.make(change)
    killed.make_some(plan.changes, steps)
    for change in planned(desired, killed.state, is_pruning=is_pruning).changes:
        killed.make(change)
    assert killed.settled() == straight.settled()
    assert planned(desired, straight.state, is_pruning=is_pruning).is_empty


@checked
@given(states, states)
def test_pruning_an_export_of_another_cluster_makes_them_alike(
    present: PresentState, wanted: PresentState
) -> None:
    wanted = reachable_from(wanted, present)
    cluster = ModelCluster(present)
    for change in planned(file_for(wanted), present, is_pruning=True).changes:
        cluster.make(change)
    assert _shape(cluster_document(cluster.state)) == _shape(cluster_document(wanted))


@checked
@given(states, states)
def test_nothing_is_deleted_without_prune(present: PresentState, wanted: PresentState) -> None:
    cluster = ModelCluster(present)
    desired = file_for(reachable_from(wanted, present))
    for change in planned(desired, present, is_pruning=False).changes:
        cluster.make(change)
    assert _names(present) <= _names(cluster.state)


@checked
@given(acls, acls)
def test_acls_allow_at_any_time_what_the_old_or_the_new_ones_allow(
    old: frozenset[AclBinding], new: frozenset[AclBinding]
) -> None:
    desired = file_for(PresentState(acls=new))
    cluster = ModelCluster(PresentState(acls=old))
    before, after = _accesses(old), _accesses(new)
    for change in planned(desired, cluster.state, is_pruning=True).changes:
        cluster.make(change)
        allowed = _accesses(cluster.state.acls or frozenset())
        assert before & after <= allowed <= before | after
    assert cluster.state.acls == new


def _accesses(stored: frozenset[AclBinding]) -> set[tuple[str, str, str]]:
    """Who may read which topic from where."""
    return {
        (user, host, name)
        for user in ("User:alice", "User:bob")
        for host in ("10.0.0.1", "10.0.0.2")
        for name in ("a", "ab", "abc", "c")
        if Permission.DENY not in (found := _permissions(stored, user, host, name))
        and Permission.ALLOW in found
    }


def _permissions(stored: frozenset[AclBinding], user: str, host: str, name: str) -> set[Permission]:
    return {
        entry.permission
        for pattern, entry in stored
        if pattern.matches(name)
        and entry.principal in (user, ANY_PRINCIPAL)
        and entry.applies(host, AclOperation.READ)
    }


def _names(state: PresentState) -> set[tuple[object, ...]]:
    """All that is there, without the values."""
    topics = state.topics.items()
    return {
        *((name, index) for name, topic in topics for index in range(len(topic.partitions))),
        *((user, mechanism) for user, found in state.users.items() for mechanism in found),
        *_configs(state),
        *((entity, key) for entity, found in state.quotas.items() for key in found),
        *(state.acls or ()),
    }


def _configs(state: PresentState) -> Iterator[tuple[str, str]]:
    resources = {
        "cluster": state.cluster,
        **{f"topic {name}": topic.configs for name, topic in state.topics.items()},
        **{f"broker {name}": found for name, found in state.broker_configs.items()},
        **{f"group {name}": found for name, found in state.groups.items()},
        **{f"metrics {name}": found for name, found in state.client_metrics.items()},
    }
    for resource, configs in resources.items():
        for name in set_configs(configs):
            yield resource, name


def _shape(document: str) -> list[str]:
    """The lines without brokers: the model places replicas as it likes."""
    return [line for line in document.splitlines() if "- -" not in line and "    - " not in line]
