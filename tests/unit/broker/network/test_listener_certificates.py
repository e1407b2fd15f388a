"""The key store of a running listener is replaced by a dynamic config, if it can be used."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from ottla.configs import ConfigOperation, ConfigResourceType
from ottla.model import ErrorCode
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.nodes.one_node import NODE_ID, OneNode, StartNode
from tests.support.security.certificates import Authority
from tests.support.security.listeners import CLIENTS, PREFIX

LOCATION = f"{PREFIX}ssl.keystore.location"
READ_AGAIN = "changed certificates are used now"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def node(start_node: StartNode, authority: Authority) -> OneNode:
    made = start_node(
        configs={
            "listeners": f"PLAINTEXT://broker.example:9092,{CLIENTS}://broker.example:9093",
            "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{CLIENTS}:SSL",
            "inter.broker.listener.name": "PLAINTEXT",
            f"{PREFIX}ssl.keystore.type": "PEM",
            LOCATION: str(authority.issue("broker").keystore),
        }
    )
    made.broker.listeners.open(CLIENTS)
    return made


def set_config(node: OneNode, name: str, value: str) -> Any:
    config = AlterableConfig(name=name, config_operation=ConfigOperation.SET, value=value)
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.BROKER, resource_name=str(NODE_ID), configs=[config]
    )
    request = IncrementalAlterConfigsRequest(resources=[resource])
    (result,) = node.send_request(request, 1).responses
    return result


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: no such file"),
        ("not PEM at all", "cannot be used"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be used"),
    ],
    ids=["missing", "no PEM", "broken"],
)
def test_key_store_that_cannot_be_used_is_refused_and_not_stored(
    node: OneNode, tmp_path: Path, content: str | None, reason: str
) -> None:
    path = tmp_path / "new.pem"
    if content is not None:
        path.write_text(content)
    result = set_config(node, LOCATION, str(path))
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert f"listener {CLIENTS}" in result.error_message
    assert reason in result.error_message
    assert node.broker.config.layers.dynamic_broker == {}
    # Other configs of the broker can be changed nevertheless.
    assert set_config(node, "background.threads", "12").error_code == ErrorCode.NONE


def test_other_key_store_is_used_at_once(node: OneNode, authority: Authority) -> None:
    path = str(authority.issue("new").keystore)
    before = node.broker.listeners._endpoints[CLIENTS]._context
    assert set_config(node, LOCATION, path).error_code == ErrorCode.NONE
    assert node.broker.listeners._endpoints[CLIENTS]._context is not before


def test_setting_the_same_path_again_reads_the_file_again(
    node: OneNode, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    path = str(authority.issue("new").keystore)
    assert set_config(node, LOCATION, path).error_code == ErrorCode.NONE
    assert READ_AGAIN not in caplog.text
    authority.issue("new")
    assert READ_AGAIN not in caplog.text
    assert set_config(node, LOCATION, path).error_code == ErrorCode.NONE
    assert READ_AGAIN in caplog.text
