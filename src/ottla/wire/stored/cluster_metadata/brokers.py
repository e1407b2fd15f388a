"""Records of brokers and controllers: registrations, endpoints and fencing.

A registration contains the log directories since KIP-858 and the cordoned ones since KIP-1066.
Fencing is now a registration change; the two fencing records occur only in early KRaft logs.
"""

from __future__ import annotations

from ottla.model import ZERO_UUID
from ottla.wire.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Struct,
    Uint16,
    Uuid,
    field,
)


class BrokerEndpoint(Struct):
    name: String = ""
    host: String = ""
    port: Uint16 = 0
    security_protocol: Int16 = 0


class BrokerFeature(Struct):
    name: String = ""
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class RegisterBrokerRecord(Message, api_key=0, versions="0-4", flexible="0+"):
    broker_id: Int32 = 0
    is_migrating_zk_broker: Bool = field(default=False, versions="2+")
    incarnation_id: Uuid = ZERO_UUID
    broker_epoch: Int64 = 0
    end_points: list[BrokerEndpoint] = field(factory=list)
    features: list[BrokerFeature] = field(factory=list)
    rack: String | None = ""
    fenced: Bool = True
    in_controlled_shutdown: Bool = field(default=False, versions="1+")
    log_dirs: list[Uuid] = field(factory=list, versions="3+", tag=0)
    cordoned_log_dirs: list[Uuid] | None = field(default=None, versions="4+", tag=1)


class UnregisterBrokerRecord(Message, api_key=1, versions="0", flexible="0+"):
    broker_id: Int32 = 0
    broker_epoch: Int64 = 0


class FenceBrokerRecord(Message, api_key=7, versions="0", flexible="0+"):
    id: Int32 = 0
    epoch: Int64 = 0


class UnfenceBrokerRecord(Message, api_key=8, versions="0", flexible="0+"):
    id: Int32 = 0
    epoch: Int64 = 0


class BrokerRegistrationChangeRecord(Message, api_key=17, versions="0-3", flexible="0+"):
    broker_id: Int32 = 0
    broker_epoch: Int64 = 0
    fenced: Int8 = field(default=0, tag=0)
    in_controlled_shutdown: Int8 = field(default=0, versions="1+", tag=1)
    log_dirs: list[Uuid] = field(factory=list, versions="2+", tag=2)
    cordoned_log_dirs: list[Uuid] | None = field(default=None, versions="3+", tag=3)


class ControllerEndpoint(Struct):
    name: String = ""
    host: String = ""
    port: Uint16 = 0
    security_protocol: Int16 = 0


class ControllerFeature(Struct):
    name: String = ""
    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class RegisterControllerRecord(Message, api_key=27, versions="0", flexible="0+"):
    controller_id: Int32 = 0
    incarnation_id: Uuid = ZERO_UUID
    zk_migration_ready: Bool = False
    end_points: list[ControllerEndpoint] = field(factory=list)
    features: list[ControllerFeature] = field(factory=list)
