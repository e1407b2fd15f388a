"""A node with two tenants, each with a listener of its own, and the operator's listener."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from tests.support.nodes.node_process import NodeProcess

_LISTENERS = ("PLAINTEXT", "ACME", "BETA")
SETTINGS = {
    "listeners": ",".join(f"{name}://127.0.0.1:0" for name in _LISTENERS),
    "listener.security.protocol.map": ",".join(
        f"{name}:PLAINTEXT" for name in (*_LISTENERS, "CONTROLLER")
    ),
    "inter.broker.listener.name": "PLAINTEXT",
    "ottla.tenant.listeners": "ACME:acme,BETA:beta",
    "group.initial.rebalance.delay.ms": "0",
}


class TenantNode(NamedTuple):
    """The addresses of its listeners."""

    operator: str
    acme: str
    beta: str

    def run(self, *arguments: str) -> Any:
        """Runs a command as the operator."""
        command = [*arguments, "--bootstrap", self.operator]
        runner = CliRunner(env={"COLUMNS": "200"})
        return runner.invoke(make_app(arguments[0]), command, catch_exceptions=False)


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TenantNode]:
    with NodeProcess(tmp_path_factory.mktemp("tenants"), SETTINGS) as process:
        node = TenantNode(*(f"127.0.0.1:{port}" for port in process.ports[-3:]))
        for tenant in ("acme", "beta"):
            assert node.run("tenants", "create", tenant).exit_code == 0
        yield node
        process.assert_no_traceback()
