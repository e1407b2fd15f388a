"""Configs that make a broker read files, connect elsewhere or load code: a real node refuses them,
or stores them without any effect, even if an administrator's account sets them.

It repeats CVE-2023-25194 and CVE-2025-27817 to 27819: login modules and URLs in client configs.
"""

from __future__ import annotations

import socket  # noqa: TID251 - tests stand outside of the node
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.nodes.wire_connection import WireConnection
from tests.support.security.attacked_node import AttackedNode
from tests.support.security.attacks import refused_quickly, under_attack

BROKER = 4
SET, DELETE = 0, 1
CONTENT = "content-of-a-secret-file"
JNDI = "com.sun.security.auth.module.JndiLoginModule required"
LDAP = "com.sun.security.auth.module.LdapLoginModule required"
TOKENS = "listener.name.clients.oauthbearer.sasl.oauthbearer."


class Traps:
    """A port and a file that the node has no reason to touch."""

    def __init__(self, directory: Path) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.setblocking(False)
        self.port = self._listening.getsockname()[1]
        self.file = directory / "secret.txt"
        self.file.write_text(CONTENT)
        self.file.chmod(0o600)
        self.written = directory / "written"

    @property
    def is_connected_to(self) -> bool:
        try:
            self._listening.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._listening.close()


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traps]:
    traps = Traps(tmp_path_factory.mktemp("traps"))
    yield traps
    traps.close()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, traps: Traps) -> Iterator[AttackedNode]:
    with under_attack(tmp_path_factory.mktemp("node"), secrets=(CONTENT, "planted")) as node:
        yield node


CONFIGS = {
    "keys of tokens from a file": (f"{TOKENS}jwks.endpoint.url", "file://{file}"),
    "keys of tokens from elsewhere": (f"{TOKENS}jwks.endpoint.url", "https://127.0.0.1:{port}/"),
    "a token from a file": (f"{TOKENS}token.endpoint.url", "file://{file}"),
    "a token from elsewhere": (f"{TOKENS}token.endpoint.url", "https://127.0.0.1:{port}/"),
    "a login module of JNDI": (
        "listener.name.clients.plain.sasl.jaas.config",
        f'{JNDI} user.provider.url="ldap://127.0.0.1:{{port}}/planted" useFirstPass="true";',
    ),
    "a login module of LDAP": (
        "listener.name.clients.scram-sha-256.sasl.jaas.config",
        f'{LDAP} userProvider="ldap://127.0.0.1:{{port}}/planted";',
    ),
    "a class": ("listener.name.clients.plain.sasl.server.callback.handler.class", "planted.Evil"),
    "a class for logins": ("listener.name.clients.sasl.login.callback.handler.class", "a.Evil"),
    "a class for metrics": ("metric.reporters", "planted.Evil"),
    "a class for principals": ("listener.name.mutual.principal.builder.class", "planted.Evil"),
    "a provider of configs": ("config.providers", "file"),
    "a value from a provider": ("log.cleaner.threads", "${{file:{file}:1}}"),
    "a key store that is another file": ("listener.name.secure.ssl.keystore.location", "{file}"),
    "a trust store that is another file": (
        "listener.name.mutual.ssl.truststore.location",
        "{file}",
    ),
    "a revocation list that is another file": (
        "listener.name.mutual.ottla.ssl.crl.location",
        "{file}",
    ),
    "an audit log elsewhere": ("ottla.audit.log", "{written}"),
    "log directories elsewhere": ("log.dirs", "{written}"),
    "no authorizer": ("authorizer.class.name", ""),
    "another super user": ("super.users", "User:alice"),
    "rights for everyone": ("allow.everyone.if.no.acl.found", "true"),
    "another protocol": ("listener.security.protocol.map", "CLIENTS:PLAINTEXT"),
    "other mechanisms": ("sasl.enabled.mechanisms", "PLAIN"),
    "another secret of tokens": ("delegation.token.secret.key", "planted"),
}


def alter(admin: WireConnection, name: str, value: str | None) -> Any:
    config = AlterableConfig(
        name=name, config_operation=SET if value is not None else DELETE, value=value
    )
    resource = AlterConfigsResource(resource_type=BROKER, resource_name="1", configs=[config])
    (answer,) = admin.send_request(
        IncrementalAlterConfigsRequest(resources=[resource]), 1
    ).responses
    return answer


def described(admin: WireConnection) -> str:
    resource = DescribeConfigsResource(
        resource_type=BROKER, resource_name="1", configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    return repr(admin.send_request(request, 4))


@pytest.mark.parametrize("name", CONFIGS)
def test_configs_reach_no_file_and_no_port(node: AttackedNode, traps: Traps, name: str) -> None:
    key, template = CONFIGS[name]
    value = template.format(port=traps.port, file=traps.file, written=traps.written)
    with node.connect("ADMIN") as admin:
        before = described(admin)
        answer = alter(admin, key, value)
        if answer.error_code:
            assert CONTENT not in answer.error_message
            assert described(admin) == before
        with refused_quickly(node):
            pass
        assert CONTENT not in described(admin)
        assert not traps.is_connected_to
        assert not traps.written.exists()
        alter(admin, key, None)
