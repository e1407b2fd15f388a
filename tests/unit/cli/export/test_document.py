"""The text of an export."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.cli.cluster_file.parsing import parse_files
from ottla.cli.cluster_state.present import (
    PresentConfig,
    PresentPartition,
    PresentState,
    PresentTopic,
)
from ottla.cli.export.document import HEADER, cluster_document
from ottla.configs import ConfigType
from ottla.security.acls.acl import AclOperation, PatternType, Permission, ResourceType
from ottla.security.sasl.scram_credential import ScramMechanism
from tests.support.apply.model_cluster import BROKER_CONFIGS, TOPIC_CONFIGS, with_set
from tests.support.security.acls import acl

EXPECTED = """\
manages:
  topics:
  - '*'
  groups:
  - '*'
  brokers:
  - '*'
  users:
  - '*'
  acls:
  - '*'
  quotas:
  - '*'
  client_metrics:
  - '*'
cluster:
  configs:
    ssl.key.password:
      sensitive: true
topics:
  even:
    partitions: 2
    replication_factor: 1
    configs:
      preallocate: true
      retention.ms: 10
  uneven:
    assignment:
    - - 1
      - 2
    - - 1
users:
  'no':
    mechanisms:
      SCRAM-SHA-512:
        iterations: 4096
acls:
- resource_type: topic
  name: even
  principal: User:no
  operations:
  - read
  - write
"""


def test_an_export_has_what_was_set_and_nothing_internal() -> None:
    acls = {
        acl(
            operation,
            ResourceType.TOPIC,
            "even",
            principal="User:no",
            host="*",
            permission=Permission.ALLOW,
            pattern=PatternType.LITERAL,
        )
        for operation in (AclOperation.WRITE, AclOperation.READ)
    }
    one, two = PresentPartition((1,)), PresentPartition((1, 2))
    configs = with_set(TOPIC_CONFIGS, {"retention.ms": "10", "preallocate": "true"})
    state = PresentState(
        topics={
            "uneven": PresentTopic((two, one)),
            "even": PresentTopic((one, one), configs=configs),
            "__consumer_offsets": PresentTopic((one,), is_internal=True),
        },
        cluster=with_set(BROKER_CONFIGS, {"ssl.key.password": None}),
        broker_configs={1: BROKER_CONFIGS},
        users={"no": {ScramMechanism.SCRAM_SHA_512: 4096}},
        acls=frozenset(acls),
    )
    assert cluster_document(state) == HEADER + EXPECTED


@settings(deadline=None)
@given(st.text(), st.text(min_size=1))
def test_any_value_and_any_name_is_read_back_as_it_was(value: str, group: str) -> None:
    config = PresentConfig(value, is_set=True, type=ConfigType.STRING)
    state = PresentState(groups={group: {"name": config}})
    desired, mistakes = parse_files([("f.yaml", cluster_document(state))])
    assert not mistakes
    assert desired.groups[group].configs["name"].text == value
