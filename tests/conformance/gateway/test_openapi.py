"""The description of the gateway: its examples work, and nothing is answered with 5xx."""

from __future__ import annotations

import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings

from ottla.web.gateway.openapi.document import OPERATIONS, openapi_document
from ottla.web.gateway.openapi.pages import example_request
from tests.support.kafka.kafka_broker import Broker
from tests.support.soak import IS_SOAK
from tests.support.web.brokers import OURS
from tests.support.web.gateway_process import GatewayProcess

pytestmark = OURS
# Long polls would make a short test long.
QUICK = {"timeout_ms": 50, "timeout": 50}
EXAMPLES = 300 if IS_SOAK else 6
OPENAPI = schemathesis.openapi.from_dict(openapi_document())


def test_every_example_of_the_page_works_in_its_order(
    gateway: GatewayProcess, broker: Broker
) -> None:
    broker.create_topic("user-events", partitions=3)
    for operation in OPERATIONS:
        if operation.name == "stream":
            continue
        method, path, body = example_request(operation)
        media_type = operation.media_type if operation.is_v2 else "application/json"
        headers = {} if body is None else {"Content-Type": media_type}
        answer = gateway.call(method, path, body, headers)
        assert answer.status == operation.success, (operation.name, answer.content)


def test_the_page_has_every_call_and_loads_nothing(gateway: GatewayProcess) -> None:
    page = gateway.call("GET", "/docs").content.decode()
    for operation in OPERATIONS:
        assert operation.path in page
    assert not re.search(r"<script|src=|@import", page)
    assert gateway.get("/openapi.json") == openapi_document()


@OPENAPI.include(path_regex=r"^(?!.*/stream$)").parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not IS_SOAK,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_nothing_is_answered_with_a_server_error(
    case: schemathesis.Case[Any], gateway: GatewayProcess
) -> None:
    case.query.update({name: value for name, value in QUICK.items() if name in case.query})
    answer = case.call(base_url=gateway.url, timeout=60)
    assert answer.status_code < 500, answer.content
