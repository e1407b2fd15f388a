"""Plans of users, ACLs and configs of brokers and groups."""

from __future__ import annotations

import pytest

from ottla.cli.apply.changes import (
    AddAcl,
    AlterResource,
    DeleteCredential,
    RemoveAcl,
    SetCredential,
    Stage,
)
from ottla.cli.apply.plan import ApplyPlan, make_plan
from ottla.cli.apply.run import require_own_user_kept
from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.cluster_state.present import PresentState
from ottla.cli.exit_codes import CommandError
from ottla.security.acls.acl import AclOperation, Permission, ResourceType
from ottla.security.sasl.scram_credential import ScramMechanism
from tests.support.apply.model_cluster import BROKER_CONFIGS, GROUP_CONFIGS, with_set
from tests.support.security.acls import acl

SHA_256, SHA_512 = ScramMechanism
ALICE = "users: {alice: {password_env: P, mechanisms: {SCRAM-SHA-512: {iterations: 8192}}}}"
SECRET = "ssl.key.password"


def planned(text: str, state: PresentState, *, is_pruning: bool = False) -> ApplyPlan:
    desired, mistakes = parse_files([("f.yaml", text)])
    assert not mistakes
    return make_plan(desired, state, is_pruning=is_pruning)


def test_a_credential_is_set_if_it_is_missing_or_has_other_iterations() -> None:
    (change,) = planned(ALICE, PresentState()).changes
    assert isinstance(change, SetCredential)
    assert (change.before, change.iterations, change.is_new_user) == (None, 8192, True)
    (change,) = planned(ALICE, PresentState(users={"alice": {SHA_512: 4096}})).changes
    assert isinstance(change, SetCredential)
    assert (change.before, change.iterations, change.is_new_user) == (4096, 8192, False)
    assert planned(ALICE, PresentState(users={"alice": {SHA_512: 8192}})).is_empty
    any_number = ALICE.replace("{iterations: 8192}", "")
    assert planned(any_number, PresentState(users={"alice": {SHA_512: 4096}})).is_empty


def test_a_new_credential_needs_a_password() -> None:
    plan = planned(ALICE.replace("password_env: P, ", ""), PresentState())
    (mistake,) = plan.mistakes
    assert "user alice has no credential for SCRAM-SHA-512 yet" in str(mistake)
    assert plan.is_empty


def test_mechanisms_and_users_are_deleted_within_what_is_managed() -> None:
    state = PresentState(users={"alice": {SHA_256: 4096, SHA_512: 8192}, "bob": {SHA_256: 4096}})
    assert planned(ALICE, state).kept == ("SCRAM-SHA-256 of user alice",)
    (change,) = planned(ALICE, state, is_pruning=True).changes
    assert change == DeleteCredential("alice", SHA_256, 4096, is_last=False, place=change.place)
    managed = planned(f"manages: {{users: [b*]}}\n{ALICE}", state, is_pruning=True).changes
    assert {change.name for change in managed} == {"alice", "bob"}


def test_the_user_of_the_command_is_not_deleted() -> None:
    state = PresentState(users={"admin": {SHA_256: 4096}})
    plan = planned("manages: {users: ['*']}", state, is_pruning=True)
    require_own_user_kept(plan, None)
    require_own_user_kept(plan, "alice")
    with pytest.raises(CommandError, match="deletes credentials of admin"):
        require_own_user_kept(plan, "admin")


def test_acls_are_matched_by_the_names_of_their_resources() -> None:
    old = acl(AclOperation.READ, ResourceType.TOPIC, "orders", principal="User:a")
    other = acl(AclOperation.READ, ResourceType.TOPIC, "billing", principal="User:a")
    denied = acl(
        AclOperation.READ,
        ResourceType.TOPIC,
        "orders",
        principal="User:b",
        permission=Permission.DENY,
    )
    state = PresentState(acls=frozenset((old, other, denied)))
    text = """
manages: {acls: [orders]}
acls: [{resource_type: topic, name: orders, principal: "User:a", operations: write}]
"""
    plan = planned(text, state, is_pruning=True)
    assert [(type(change), change.stage) for change in plan.changes] == [
        (AddAcl, Stage.ADD_ALLOW),
        (RemoveAcl, Stage.REMOVE_ALLOW),
        (RemoveAcl, Stage.REMOVE_DENY),
    ]


def test_acls_of_a_cluster_without_authorizer_are_a_mistake() -> None:
    text = 'acls: [{resource_type: topic, name: a, principal: "User:a", operations: read}]'
    (mistake,) = planned(text, PresentState(acls=None)).mistakes
    assert "no authorizer" in mistake.message
    assert planned("manages: {acls: ['*']}", PresentState(acls=None)).is_empty


def brokers(**values: str | None) -> PresentState:
    configs = with_set(BROKER_CONFIGS, {name.replace("_", "."): v for name, v in values.items()})
    return PresentState(brokers={1: None}, broker_configs={1: configs})


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ("node.id: 2", "node.id of broker 1 cannot be changed while brokers run"),
        (f"{SECRET}: x", "is a secret; write password_file or password_env"),
        (f"{SECRET}: {{sensitive: true}}", "is not set yet"),
        ("log.cleaner.thread: 2", "did you mean log.cleaner.threads?"),
    ],
)
def test_configs_that_cannot_be_set_are_mistakes(config: str, complaint: str) -> None:
    plan = planned(f"brokers: {{1: {{configs: {{{config}}}}}}}", brokers())
    (mistake,) = plan.mistakes
    assert complaint in mistake.message


def test_a_broker_that_does_not_run_is_a_mistake() -> None:
    (mistake,) = planned("brokers: {2: }", brokers()).mistakes
    assert "broker 2 is not running" in mistake.message
    assert "(running: 1)" in mistake.message


def test_a_secret_that_is_set_stays_and_is_never_shown() -> None:
    text = f"brokers: {{1: {{configs: {{{SECRET}: {{password_env: KEY}}}}}}}}"
    (change,) = planned(text, brokers()).changes
    assert isinstance(change, AlterResource)
    assert change.configs[0].after is None
    assert planned(text, brokers(ssl_key_password=None)).is_empty


def test_a_listeners_own_configs_may_be_unknown_to_the_description() -> None:
    text = "brokers: {1: {configs: {listener.name.tls.ssl.keystore.location: /keys}}}"
    assert len(planned(text, brokers()).changes) == 1


def test_configs_of_managed_groups_and_brokers_are_pruned() -> None:
    timeout = with_set(GROUP_CONFIGS, {"consumer.session.timeout.ms": "50000"})
    cleaner = with_set(BROKER_CONFIGS, {"log.cleaner.threads": "2"})
    state = PresentState(
        brokers={1: None},
        broker_configs={1: cleaner},
        groups={"billing": timeout, "shop": timeout},
    )
    text = "manages: {groups: [shop], brokers: ['*']}"
    assert planned(text, state).kept == ("the configs of broker 1", "the configs of group shop")
    changes = planned(text, state, is_pruning=True).changes
    assert {change.name for change in changes} == {"1", "shop"}


def test_the_clusters_own_min_insync_replicas_stays() -> None:
    present = {"min.insync.replicas": GROUP_CONFIGS["consumer.session.timeout.ms"]}
    cluster = with_set(present, {"min.insync.replicas": "1"})
    plan = planned("cluster:", PresentState(cluster=cluster), is_pruning=True)
    assert plan.is_empty
