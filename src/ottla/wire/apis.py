"""Kafka's APIs: their numbers, their messages, and the listeners that serve them.

Message modules are imported on first use, so a program loads only the APIs that it uses.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from functools import cache, lru_cache
from importlib import import_module

from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Message


class ApiKey(IntEnum):
    """All API numbers of Kafka 4.3, including removed APIs."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_HEARTBEAT = 76
    SHARE_GROUP_DESCRIBE = 77
    SHARE_FETCH = 78
    SHARE_ACKNOWLEDGE = 79
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82
    INITIALIZE_SHARE_GROUP_STATE = 83
    READ_SHARE_GROUP_STATE = 84
    WRITE_SHARE_GROUP_STATE = 85
    DELETE_SHARE_GROUP_STATE = 86
    READ_SHARE_GROUP_STATE_SUMMARY = 87
    STREAMS_GROUP_HEARTBEAT = 88
    STREAMS_GROUP_DESCRIBE = 89
    DESCRIBE_SHARE_GROUP_OFFSETS = 90
    ALTER_SHARE_GROUP_OFFSETS = 91
    DELETE_SHARE_GROUP_OFFSETS = 92


class ListenerKind(Enum):
    """The two kinds of listener: one for clients and brokers, one for the metadata quorum."""

    BROKER = "broker"
    CONTROLLER = "controller"


_BROKER = frozenset({ListenerKind.BROKER})
_CONTROLLER = frozenset({ListenerKind.CONTROLLER})
_BOTH = _BROKER | _CONTROLLER

# The listeners that serve each API. Contains exactly the APIs whose messages are declared.
LISTENERS = {
    ApiKey.PRODUCE: _BROKER,
    ApiKey.FETCH: _BOTH,
    ApiKey.LIST_OFFSETS: _BROKER,
    ApiKey.METADATA: _BROKER,
    ApiKey.OFFSET_COMMIT: _BROKER,
    ApiKey.OFFSET_FETCH: _BROKER,
    ApiKey.FIND_COORDINATOR: _BROKER,
    ApiKey.JOIN_GROUP: _BROKER,
    ApiKey.HEARTBEAT: _BROKER,
    ApiKey.LEAVE_GROUP: _BROKER,
    ApiKey.SYNC_GROUP: _BROKER,
    ApiKey.DESCRIBE_GROUPS: _BROKER,
    ApiKey.LIST_GROUPS: _BROKER,
    ApiKey.SASL_HANDSHAKE: _BOTH,
    ApiKey.API_VERSIONS: _BOTH,
    ApiKey.CREATE_TOPICS: _BOTH,
    ApiKey.DELETE_TOPICS: _BOTH,
    ApiKey.DELETE_RECORDS: _BROKER,
    ApiKey.INIT_PRODUCER_ID: _BROKER,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _BROKER,
    ApiKey.ADD_PARTITIONS_TO_TXN: _BROKER,
    ApiKey.ADD_OFFSETS_TO_TXN: _BROKER,
    ApiKey.END_TXN: _BROKER,
    ApiKey.WRITE_TXN_MARKERS: _BROKER,
    ApiKey.TXN_OFFSET_COMMIT: _BROKER,
    ApiKey.DESCRIBE_ACLS: _BOTH,
    ApiKey.CREATE_ACLS: _BOTH,
    ApiKey.DELETE_ACLS: _BOTH,
    ApiKey.DESCRIBE_CONFIGS: _BOTH,
    ApiKey.ALTER_CONFIGS: _BOTH,
    ApiKey.ALTER_REPLICA_LOG_DIRS: _BROKER,
    ApiKey.DESCRIBE_LOG_DIRS: _BROKER,
    ApiKey.SASL_AUTHENTICATE: _BOTH,
    ApiKey.CREATE_PARTITIONS: _BOTH,
    ApiKey.CREATE_DELEGATION_TOKEN: _BOTH,
    ApiKey.RENEW_DELEGATION_TOKEN: _BOTH,
    ApiKey.EXPIRE_DELEGATION_TOKEN: _BOTH,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: _BOTH,
    ApiKey.DELETE_GROUPS: _BROKER,
    ApiKey.ELECT_LEADERS: _BOTH,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _BOTH,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _BOTH,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _BOTH,
    ApiKey.OFFSET_DELETE: _BROKER,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _BROKER,
    ApiKey.ALTER_CLIENT_QUOTAS: _BOTH,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _BOTH,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _BOTH,
    ApiKey.VOTE: _CONTROLLER,
    ApiKey.BEGIN_QUORUM_EPOCH: _CONTROLLER,
    ApiKey.END_QUORUM_EPOCH: _CONTROLLER,
    ApiKey.DESCRIBE_QUORUM: _BOTH,
    ApiKey.ALTER_PARTITION: _CONTROLLER,
    ApiKey.UPDATE_FEATURES: _BOTH,
    ApiKey.ENVELOPE: _CONTROLLER,
    ApiKey.FETCH_SNAPSHOT: _CONTROLLER,
    ApiKey.DESCRIBE_CLUSTER: _BOTH,
    ApiKey.DESCRIBE_PRODUCERS: _BROKER,
    ApiKey.BROKER_REGISTRATION: _CONTROLLER,
    ApiKey.BROKER_HEARTBEAT: _CONTROLLER,
    ApiKey.UNREGISTER_BROKER: _BOTH,
    ApiKey.DESCRIBE_TRANSACTIONS: _BROKER,
    ApiKey.LIST_TRANSACTIONS: _BROKER,
    ApiKey.ALLOCATE_PRODUCER_IDS: _CONTROLLER,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _BROKER,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _BROKER,
    ApiKey.CONTROLLER_REGISTRATION: _CONTROLLER,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: _BROKER,
    ApiKey.PUSH_TELEMETRY: _BROKER,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: _CONTROLLER,
    ApiKey.LIST_CONFIG_RESOURCES: _BROKER,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _BROKER,
    ApiKey.SHARE_GROUP_HEARTBEAT: _BROKER,
    ApiKey.SHARE_GROUP_DESCRIBE: _BROKER,
    ApiKey.SHARE_FETCH: _BROKER,
    ApiKey.SHARE_ACKNOWLEDGE: _BROKER,
    ApiKey.ADD_RAFT_VOTER: _BOTH,
    ApiKey.REMOVE_RAFT_VOTER: _BOTH,
    ApiKey.UPDATE_RAFT_VOTER: _CONTROLLER,
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _BROKER,
    ApiKey.READ_SHARE_GROUP_STATE: _BROKER,
    ApiKey.WRITE_SHARE_GROUP_STATE: _BROKER,
    ApiKey.DELETE_SHARE_GROUP_STATE: _BROKER,
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _BROKER,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: _BROKER,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: _BROKER,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: _BROKER,
}


@cache
def request_class(key: int) -> type[Message]:
    """The request class of an API; its `versions` are those that Kafka advertises."""
    return _message_class(key, "Request")


@cache
def response_class(key: int) -> type[Message]:
    return _message_class(key, "Response")


def _message_class(key: int, kind: str) -> type[Message]:
    if key not in LISTENERS:
        raise ProtocolError(f"there are no messages for API key {key}")
    name = ApiKey(key).name
    module = import_module(f"ottla.wire.messages.{name.lower()}")
    found: type[Message] = getattr(module, name.title().replace("_", "") + kind)
    return found


@lru_cache(maxsize=4096)
def request_header_version(key: int, version: int) -> int:
    """The version of a request's header. Unknown higher versions are flexible too."""
    return 2 if version in request_class(key).flexible else 1


@lru_cache(maxsize=4096)
def response_header_version(key: int, version: int) -> int:
    # A client reads this response before it can know which versions the node supports.
    if key == ApiKey.API_VERSIONS:
        return 0
    return 1 if version in response_class(key).flexible else 0
