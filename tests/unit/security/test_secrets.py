"""Neither the text of a config nor the log of a crash has a secret."""

from __future__ import annotations

import hmac
import logging

import pytest

from ottla.configs import NodeConfig
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode
from tests.support.security.listeners import (
    CLIENTS,
    PASSWORD,
    SASL_CONFIGS,
    handshake,
    plain,
)

SECRETS = {
    "delegation.token.secret.key": "swordfish-1",
    "ssl.key.password": "swordfish-2",
    "ssl.truststore.password": "swordfish-3",
    "listener.name.clients.sasl.oauthbearer.client.credentials.client.secret": "swordfish-4",
    "company.vault.token": "swordfish-5",
}


def test_text_of_a_config_has_no_secret() -> None:
    config = NodeConfig.of(SASL_CONFIGS | SECRETS)
    for text in (
        repr(config),
        str(config),
        f"{config}",
        repr(config.listener_security),
        repr(config.layers),
        repr(config.values),
        repr(config.listeners),
    ):
        assert "swordfish" not in text
        assert PASSWORD not in text


@pytest.mark.parametrize("password", [PASSWORD, "a wrong password"])
def test_log_of_a_crash_during_authentication_has_no_secret(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, password: str
) -> None:
    def crash(*_: object) -> bool:
        raise RuntimeError("broken on purpose")

    caplog.set_level(logging.DEBUG)
    node = OneNode(configs=SASL_CONFIGS | SECRETS)
    monkeypatch.setattr(hmac, "compare_digest", crash)
    client = ClientStream(node, listener=CLIENTS)
    client.feed(handshake() + plain("alice", password))
    assert client.is_closed
    client.end()
    node.abandon()
    assert "broken on purpose" in caplog.text
    assert "Traceback" in caplog.text
    for secret in (password, PASSWORD, "swordfish"):
        assert secret not in caplog.text
