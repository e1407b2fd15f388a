"""A broker keeps its registration alive, and asks to be unfenced or to shut down (KIP-631).

Version 1 lists failed log directories (KIP-858), 2 cordoned ones (KIP-1066).
"""

from __future__ import annotations

from ottla.wire.schema import Bool, Int16, Int32, Int64, Message, Uuid, field


class BrokerHeartbeatRequest(Message, api_key=63, versions="0-2", flexible="0+"):
    broker_id: Int32 = 0
    broker_epoch: Int64 = -1
    current_metadata_offset: Int64 = 0
    want_fence: Bool = False
    want_shut_down: Bool = False
    offline_log_dirs: list[Uuid] = field(factory=list, versions="1+", tag=0)
    cordoned_log_dirs: list[Uuid] | None = field(default=None, versions="2+", tag=1)


class BrokerHeartbeatResponse(Message, api_key=63, versions="0-2", flexible="0+"):
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    is_caught_up: Bool = False
    is_fenced: Bool = True
    should_shut_down: Bool = False
