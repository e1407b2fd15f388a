"""Random states of clusters, and the files that ask for them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ottla.cli.cluster_state.present import PresentPartition, PresentState, PresentTopic
from ottla.security.acls.acl import AclOperation, PatternType, Permission, ResourceType
from ottla.security.sasl.scram_credential import ScramMechanism
from tests.support.apply.model_cluster import (
    BROKER_CONFIGS,
    GROUP_CONFIGS,
    METRICS_CONFIGS,
    TOPIC_CONFIGS,
    with_set,
)
from tests.support.security.acls import acl

RACKS = {1: "a", 2: "a", 3: "b", 4: None}
PARTITIONS_MAX = 3
_names = st.sampled_from(["a", "ab", "b"])
_policies = st.sampled_from(["delete", "compact", "compact,delete"])


def _some(**values: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    """Any of these, by names with underscores for dots."""
    options = {name.replace("_", "."): value for name, value in values.items()}
    return st.fixed_dictionaries({}, optional=options)


_topic_configs = _some(
    cleanup_policy=_policies,
    min_insync_replicas=st.integers(1, 3).map(str),
    preallocate=st.sampled_from(["true", "false"]),
    retention_ms=st.integers(-1, 10).map(str),
).map(lambda values: with_set(TOPIC_CONFIGS, values))
_broker_configs = st.builds(
    lambda values, secrets: with_set(BROKER_CONFIGS, values | secrets),
    _some(log_cleaner_threads=st.integers(1, 9).map(str)),
    st.sampled_from([{}, {"ssl.key.password": None}]),
)
_group_configs = _some(consumer_session_timeout_ms=st.integers(1, 9).map(str)).map(
    lambda values: with_set(GROUP_CONFIGS, values)
)


@st.composite
def _topics(draw: st.DrawFn) -> PresentTopic:
    replicas = st.lists(st.sampled_from(sorted(RACKS)), min_size=1, max_size=3, unique=True)
    factor = draw(st.sampled_from([1, 2, 3, None]))
    partitions = draw(st.lists(replicas, min_size=1, max_size=PARTITIONS_MAX))
    if factor is not None:
        # All with the same number of replicas, as nearly every topic has them.
        partitions = [(each + [b for b in RACKS if b not in each])[:factor] for each in partitions]
    return PresentTopic(
        tuple(PresentPartition(tuple(each)) for each in partitions), configs=draw(_topic_configs)
    )


acls = st.frozensets(
    st.builds(
        acl,
        st.sampled_from([AclOperation.READ, AclOperation.ALL]),
        st.just(ResourceType.TOPIC),
        st.sampled_from(["a", "ab", "*"]),
        principal=st.sampled_from(["User:alice", "User:bob", "User:*"]),
        host=st.sampled_from(["10.0.0.1", "*"]),
        permission=st.sampled_from([Permission.ALLOW, Permission.DENY]),
        pattern=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    ),
    max_size=5,
)
_users = st.dictionaries(
    st.sampled_from(["alice", "bob", "no"]),
    st.dictionaries(st.sampled_from(ScramMechanism), st.sampled_from([4096, 8192]), min_size=1),
)
_entities = st.one_of(
    st.sampled_from([(("ip", None),), (("ip", "10.0.0.1"),)]),
    st.tuples(
        st.sampled_from([None, "app", "null"]).map(lambda name: ("client-id", name)),
        st.sampled_from([None, "alice", "no"]).map(lambda name: ("user", name)),
    ),
    st.sampled_from([None, "alice", "12"]).map(lambda name: (("user", name),)),
    st.sampled_from([None, "app"]).map(lambda name: (("client-id", name),)),
)
_quotas = st.dictionaries(
    _entities,
    st.dictionaries(
        st.sampled_from(["producer_byte_rate", "request_percentage", "connection_creation_rate"]),
        st.sampled_from([1.0, 12.5, 10_000_000.0, 2.0**62]),
        min_size=1,
    ),
)
_metrics_configs = _some(interval_ms=st.integers(100, 200).map(str)).map(
    lambda values: with_set(METRICS_CONFIGS, values)
)


def _with_internal(topics: dict[str, PresentTopic]) -> dict[str, PresentTopic]:
    internal = PresentTopic(
        (PresentPartition((1,)),),
        is_internal=True,
        configs=with_set(TOPIC_CONFIGS, {"cleanup.policy": "compact"}),
    )
    return {**topics, "__consumer_offsets": internal}


states = st.builds(
    PresentState,
    brokers=st.just(RACKS),
    topics=st.dictionaries(_names, _topics()).map(_with_internal),
    cluster=_broker_configs,
    broker_configs=st.fixed_dictionaries(dict.fromkeys(RACKS, _broker_configs)),
    groups=st.dictionaries(_names, _group_configs),
    users=_users,
    acls=acls,
    quotas=_quotas,
    client_metrics=st.dictionaries(_names, _metrics_configs),
)


def reachable_from(wanted: PresentState, present: PresentState) -> PresentState:
    """The wanted state with at least as many partitions as topics have already, and no secrets
    that are not set yet: a file that asks for less is refused."""
    topics = {}
    for name, topic in wanted.topics.items():
        missing = len(getattr(present.topics.get(name), "partitions", ())) - len(topic.partitions)
        added = (topic.partitions[-1],) * max(missing, 0)
        topics[name] = replace(topic, partitions=(*topic.partitions, *added))
    return replace(wanted, topics=topics)
