"""Returns the nodes of the cluster (KIP-700).

Version 1 asks for brokers or for controllers (KIP-919). 2 can include fenced brokers (KIP-1073).
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int8, Int16, Int32, Message, MessageText, Struct, Text, field


class DescribeClusterRequest(Message, api_key=60, versions="0-2", flexible="0+"):
    include_cluster_authorized_operations: Bool = False
    endpoint_type: Int8 = field(default=1, versions="1+")
    include_fenced_brokers: Bool = field(default=False, versions="2+")


class DescribeClusterBroker(Struct):
    broker_id: Int32 = 0
    host: Text = ""
    port: Int32 = 0
    rack: Text | None = None
    is_fenced: Bool = field(default=False, versions="2+")


class DescribeClusterResponse(Message, api_key=60, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: MessageText | None = None
    endpoint_type: Int8 = field(default=1, versions="1+")
    cluster_id: Text = ""
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker] = field(factory=list)
    cluster_authorized_operations: Int32 = -(2**31)
