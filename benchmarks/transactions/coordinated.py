"""Waits for what the first transaction of a cluster waits for: the topic that coordinators keep."""

from __future__ import annotations

import time

from benchmarks.versus.servers import START_TIMEOUT_S, Server
from benchmarks.versus.wire_client import WireClient, WireError
from ottla.model import ErrorCode
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

# Versions that every Kafka 4 speaks.
_FIND_COORDINATOR_VERSION = 4
_INIT_PRODUCER_ID_VERSION = 4
_TRANSACTION = 1
_ID = "first"
_TIMEOUT_MS = 60_000
_PAUSE_S = 0.1


def wait_coordinated(server: Server) -> None:
    find = FindCoordinatorRequest(key_type=_TRANSACTION, coordinator_keys=[_ID])
    init = InitProducerIdRequest(transactional_id=_ID, transaction_timeout_ms=_TIMEOUT_MS)
    deadline_s = time.perf_counter() + START_TIMEOUT_S
    code = ErrorCode.NONE
    while time.perf_counter() < deadline_s:
        with WireClient(server.address) as client:
            found = client.send_request(find, _FIND_COORDINATOR_VERSION, FindCoordinatorResponse)
            code = ErrorCode(found.coordinators[0].error_code)
            if not code:
                made = client.send_request(init, _INIT_PRODUCER_ID_VERSION, InitProducerIdResponse)
                code = ErrorCode(made.error_code)
                if not code:
                    return
        time.sleep(_PAUSE_S)
    raise WireError(f"{server.name} coordinates no transactions: {code.name}")
