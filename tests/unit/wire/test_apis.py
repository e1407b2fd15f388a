"""The table of APIs says what Kafka's own says."""

import re
import subprocess
import sys

import pytest

from ottla.wire.apis import (
    LISTENERS,
    ApiKey,
    ListenerKind,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from ottla.wire.errors import ProtocolError
from tests.support.kafka.protocol_table import api_table

# All waves but that of streams groups.
ONE_NODE = {0, 1, 2, 3, 10, *range(18, 24), 32, 33, 34, 35, 37, 44, 57, 60, 61, 74, 75}
CLUSTER = {43, 45, 46, *range(52, 57), 58, 59, 62, 63, 64, 67, 70, 73, 80, 81, 82}
GROUPS = {8, 9, *range(11, 17), 42, 47, 68, 69}
TRANSACTIONS = {*range(24, 29), 65, 66}
SECURITY = {17, 29, 30, 31, 36, *range(38, 42), 50, 51}
QUOTAS = {48, 49}
METRICS = {71, 72}
SHARES = {*range(76, 80), *range(83, 88), 90, 91, 92}


def test_every_api_of_kafka_has_its_name() -> None:
    names = {
        key: re.sub("(?<!^)(?=[A-Z])", "_", api["name"]).upper() for key, api in api_table().items()
    }
    assert {key.value: key.name for key in ApiKey} == names


def test_apis_of_the_first_waves_are_declared() -> None:
    waves = ONE_NODE | CLUSTER | GROUPS | TRANSACTIONS | SECURITY | QUOTAS | METRICS | SHARES
    assert set(LISTENERS) == waves


@pytest.mark.parametrize("key", LISTENERS, ids=lambda key: key.name)
def test_declared_api_equals_the_table(key: ApiKey) -> None:
    api = api_table()[key]
    assert {listener.name for listener in LISTENERS[key]} == set(api["listeners"][1:-1].split(", "))
    for cls, kind in ((request_class(key), "Request"), (response_class(key), "Response")):
        assert cls.__name__ == api["name"] + kind
        assert cls.api_key == key
        assert (cls.stable.lowest, cls.stable.highest) == (api["min"], api["max_stable"])
        assert cls.versions.lowest == api["min"]
        assert cls.versions.highest in (api["max_stable"], api["max"])
    headers = [
        [version, request_header_version(key, version), response_header_version(key, version)]
        for version in range(api["min"], api["max"] + 1)
    ]
    assert headers == api["headers"]


@pytest.mark.parametrize("key", [-1, 4, 7, 93, 32767])
def test_api_without_messages_is_refused(key: int) -> None:
    with pytest.raises(ProtocolError, match=f"there are no messages for API key {key}"):
        request_class(key)
    with pytest.raises(ProtocolError, match=f"there are no messages for API key {key}"):
        response_header_version(key, 0)


def test_version_too_high_to_be_known_has_a_flexible_header() -> None:
    assert request_header_version(ApiKey.API_VERSIONS, 32767) == 2
    assert response_header_version(ApiKey.API_VERSIONS, 32767) == 0


def test_both_listeners_answer_api_versions() -> None:
    assert LISTENERS[ApiKey.API_VERSIONS] == frozenset(ListenerKind)


def test_importing_the_wire_imports_no_messages() -> None:
    code = "import sys, ottla.wire; print([n for n in sys.modules if 'wire.messages' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
