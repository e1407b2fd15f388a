"""Cluster files: what they say, and what is wrong with them."""

from __future__ import annotations

import pytest

from ottla.cli.cluster_file.desired import (
    DesiredCredential,
    DesiredState,
    ManagedKind,
    SecretKind,
    SecretSource,
)
from ottla.cli.cluster_file.mistakes import Place
from ottla.cli.cluster_file.parsing import parse_files
from ottla.security.acls.acl import AclOperation, PatternType, Permission, ResourceType
from ottla.security.sasl.scram_credential import ScramMechanism
from tests.support.security.acls import acl

WHOLE = """\
manages:
  topics: [orders, eu-*]
cluster:
  configs: {log.cleaner.threads: 2}
brokers:
  1: {configs: {listener.name.tls.ssl.key.password: {password_env: KEY}}}
topics:
  orders:
    partitions: 3
    replication_factor: 2
    configs:
      cleanup.policy: [compact, delete]
      retention.ms: 0600
      follower.replication.throttled.replicas: ""
  placed: {assignment: [[1, 2], [2, 1]]}
  default:
groups:
  no: {configs: {consumer.session.timeout.ms: 50000}}
users:
  alice:
    password_file: secrets/alice
    mechanisms:
      SCRAM-SHA-512:
      SCRAM-SHA-256: {iterations: 4096}
acls:
  - resource_type: topic
    name: eu-
    pattern_type: prefixed
    principal: User:alice
    host: 10.0.0.1
    operations: [read, DescribeConfigs]
    permission: deny
  - {resource_type: cluster, principal: "User:alice", operations: cluster_action}
"""


def mistakes_in(*texts: str) -> list[str]:
    _, mistakes = parse_files([(f"{index}.yaml", text) for index, text in enumerate(texts)])
    return list(map(str, mistakes))


def parsed(text: str) -> DesiredState:
    state, mistakes = parse_files([("f.yaml", text)])
    assert not mistakes
    return state


def test_a_file_says_what_the_cluster_shall_have() -> None:
    state = parsed(WHOLE)
    orders = state.topics["orders"]
    assert (orders.partitions, orders.replication_factor) == (3, 2)
    assert {name: value.text for name, value in orders.configs.items()} == {
        "cleanup.policy": "compact,delete",
        "retention.ms": "0600",
        "follower.replication.throttled.replicas": "",
    }
    assert state.topics["placed"].assignment == ((1, 2), (2, 1))
    assert state.topics["default"].partitions is None
    assert list(state.groups) == ["no"]
    assert state.cluster["log.cleaner.threads"].text == "2"
    key = state.brokers[1].configs["listener.name.tls.ssl.key.password"]
    assert key.secret == SecretSource(Place("f.yaml", 6), SecretKind.ENVIRONMENT, "KEY")
    assert state.users["alice"].mechanisms == {
        ScramMechanism.SCRAM_SHA_512: DesiredCredential(Place("f.yaml", 23), None),
        ScramMechanism.SCRAM_SHA_256: DesiredCredential(Place("f.yaml", 24), 4096),
    }
    assert state.users["alice"].password is not None
    assert state.is_managed(ManagedKind.TOPICS, "eu-1")
    assert not state.is_managed(ManagedKind.TOPICS, "orders-2")
    assert not state.is_managed(ManagedKind.ACLS, "orders")


def test_acls_are_in_kafkas_terms_with_an_entry_for_each_operation() -> None:
    def denied(operation: AclOperation) -> object:
        return acl(
            operation,
            ResourceType.TOPIC,
            "eu-",
            principal="User:alice",
            host="10.0.0.1",
            permission=Permission.DENY,
            pattern=PatternType.PREFIXED,
        )

    cluster = acl(
        AclOperation.CLUSTER_ACTION,
        ResourceType.CLUSTER,
        "kafka-cluster",
        principal="User:alice",
        host="*",
        permission=Permission.ALLOW,
        pattern=PatternType.LITERAL,
    )
    assert parsed(WHOLE).acls.keys() == {
        denied(AclOperation.READ),
        denied(AclOperation.DESCRIBE_CONFIGS),
        cluster,
    }


def test_several_files_and_documents_are_one() -> None:
    state, mistakes = parse_files(
        [("a.yaml", "topics: {a: }\n---\ntopics: {b: }\n"), ("b.yaml", "topics: {c: }")]
    )
    assert not mistakes
    assert list(state.topics) == ["a", "b", "c"]


def test_all_mistakes_of_all_files_are_found_at_once() -> None:
    first = "topics:\n  a: {partition: 3}\n  b: {partitions: many}\nuser:\n"
    assert mistakes_in(first, "topics: {a: }") == [
        "0.yaml:2: topic a has no field partition; did you mean partitions?",
        "0.yaml:3: partitions of topic b is 'many'; write a whole number of at least 1",
        "0.yaml:4: a cluster file has no field user; did you mean users?",
        "1.yaml:1: topic a is there twice, first at 0.yaml:2",
    ]


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("a: [\n", 2, "this is not YAML"),
        ("manages: {topics: [*]}", 1, "write '*' in quotes"),
        ("a:\n\tb: 1", 2, "this is not YAML"),
        ("topics: {a: \x01}", 1, "this is not YAML"),
        ("- a", 1, "a cluster file must be a mapping"),
        ("topics: [a]", 1, "topics must be a mapping"),
        ("topics:\n  a: \n  a: ", 3, "a is there twice, first in line 2"),
        ("topics:\n  a: {<<: {partitions: 1}}", 2, "merge keys (<<) are not supported"),
        ("topics: !!python/object:os.system {}", 1, "tags such as"),
        ("topics: &t {a: *t}", 1, "no value before this line has the anchor &t"),
        ("topics: {? [a] : 1}", 1, "a key must be a name"),
        ("topics:\n  a b: ", 2, "'a b' is not a name of a topic"),
        ("topics:\n  a: {partitions: }", 2, "partitions of topic a is empty"),
        ("topics:\n  a: {partitions: 0}", 2, "at least 1"),
        ("topics: {a: {replication_factor: 40000}}", 1, "at most 32767"),
        ("topics: {a: {configs: {retention.ms: }}}", 1, "retention.ms of topic a is empty"),
        ("topics: {a: {configs: {x: {password: 1}}}}", 1, "did you mean password_"),
        ("topics: {a: {assignment: [[1, 1]]}}", 1, "has no replicas, or one twice"),
        ("topics: {a: {assignment: []}}", 1, "is empty"),
        ("topics: {a: {assignment: [[1]], partitions: 2}}", 1, "leave partitions out"),
        ("topics: {a: {assignment: [[1]], replication_factor: 1}}", 1, "replication_factor out"),
        ("brokers: {all: }", 1, "'all' is not the id of a broker; defaults of all are in cluster"),
        ("users: {a: }", 1, "user a has no mechanisms"),
        ("users: {a: {mechanisms: {PLAIN: }}}", 1, "write one of SCRAM-SHA-256, SCRAM-SHA-512"),
        ("users: {a: {mechanisms: {SCRAM-SHA-512: {iterations: 9}}}}", 1, "at most 16384"),
        ("users: {a: {password: x, mechanisms: }}", 1, "has a password in this file"),
        ("users: {a: {password_file: x, password_env: y, mechanisms: }}", 1, "leave one of them"),
        ("acls:\n  - {principal: 'User:a'}", 2, "this ACL has no resource_type"),
        ("acls:\n  - {principal: 'User:a'}", 2, "this ACL has no operations"),
        ("quotas:\n  - {limits: {topics_max: 1}}", 2, "this quota is for nothing"),
        ("quotas:\n  - {user: a}", 2, "this quota has no limits"),
        ("quotas:\n  - {user: a, ip: 10.0.0.1, limits: }", 2, "cannot name users or client ids"),
        ("quotas:\n  - {user: a, default: user, limits: }", 2, "names a user and its default"),
        ("quotas:\n  - {default: users, limits: }", 2, "did you mean user?"),
        ("quotas:\n  - {user: a, limits: {topic_max: 1}}", 2, "did you mean topics_max?"),
        ("quotas:\n  - {user: a, limits: {topics_max: 1MB}}", 2, "write a number"),
        ("quotas:\n  - &a {user: a, limits: }\n  - *a", 2, "is there twice"),
        ("client_metrics: {'': }", 1, "the name of a subscription is empty"),
        ("manages: {quota: [a]}", 1, "manages has no field quota"),
        ("manages: {topics: ['a*b']}", 1, "has a * before its end"),
    ],
)
def test_a_mistake_names_its_line_and_what_to_write(text: str, line: int, complaint: str) -> None:
    found = mistakes_in(text)
    assert any(each.startswith(f"0.yaml:{line}: ") and complaint in each for each in found), found


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ("resource_type: topics", "'topics' is unknown here; did you mean topic?"),
        ("pattern_type: match", "write one of literal, prefixed"),
        ("permission: yes", "write one of deny, allow"),
        ("operations: [reed]", "did you mean read?"),
        ("operations: [cluster-action]", "topic has no operation cluster-action; it has all, read"),
        ("principal: alice", "principal"),
        ('name: ""', "is empty"),
    ],
)
def test_a_mistake_in_an_acl_names_what_there_is(fields: str, complaint: str) -> None:
    name = fields.partition(":")[0]
    good = {
        "resource_type": "topic",
        "name": "a",
        "principal": "User:a",
        "operations": "[read]",
    }
    lines = [f"{key}: {value}" for key, value in good.items() if key != name] + [fields]
    found = mistakes_in("acls:\n- " + "\n  ".join(lines))
    assert any(complaint in each for each in found), found


def test_deep_nesting_is_a_mistake() -> None:
    assert mistakes_in("[" * 100_000)


def test_aliases_that_multiply_are_read_once() -> None:
    lines = ["a0: &a0 [x, x]"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)
    ]
    assert len(mistakes_in("\n".join(lines))) == 30
