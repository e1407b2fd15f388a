"""A broker registers with the controller when it starts (KIP-631).

Version 1 is for brokers that migrate from ZooKeeper (KIP-866). 2 lists the log directories
(KIP-858). 3 contains the broker epoch before a clean shutdown (KIP-966). 4 allows features whose
lowest version is 0.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import Bool, Int16, Int32, Int64, Message, Struct, Text, Uint16, Uuid, field


class Listener(Struct):
    name: Text = ""
    host: Text = ""
    port: Uint16 = 0
    security_protocol: Int16 = 0


class Feature(Struct):
    name: Text = ""
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class BrokerRegistrationRequest(Message, api_key=62, versions="0-4", flexible="0+"):
    broker_id: Int32 = 0
    cluster_id: Text = ""
    incarnation_id: Uuid = ZERO_UUID
    listeners: list[Listener] = field(factory=list)
    features: list[Feature] = field(factory=list)
    rack: Text | None = ""
    is_migrating_zk_broker: Bool = field(default=False, versions="1+")
    log_dirs: list[Uuid] = field(factory=list, versions="2+")
    previous_broker_epoch: Int64 = field(default=-1, versions="3+")


class BrokerRegistrationResponse(Message, api_key=62, versions="0-4", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    broker_epoch: Int64 = -1
