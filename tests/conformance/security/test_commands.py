"""Ottla's own commands, with each mechanism over TLS."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from ottla.model import ErrorCode
from tests.conformance.security.clients import RefusedError, UntrustedError
from tests.conformance.security.commands import OttlaCommands
from tests.conformance.security.logins import Endpoint, Login
from tests.conformance.security.node import SecuredNode, running
from tests.conformance.security.population import ADMIN, KINDS, Population
from tests.conformance.security.usage import assert_allowed, assert_refused
from tests.support.soak import IS_SOAK

# Each refusal takes two commands.
KINDS_REFUSED = KINDS if IS_SOAK else ("SCRAM-SHA-512", "mutual-TLS")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with running(SecuredNode(tmp_path_factory.mktemp("secured"))) as node:
        yield node


@pytest.fixture(scope="module")
def commands(node: SecuredNode) -> OttlaCommands:
    return OttlaCommands(node.home)


@pytest.fixture(scope="module")
def population(node: SecuredNode, commands: OttlaCommands) -> Population:
    population = Population(node)
    population.settle([commands])
    return population


@pytest.fixture(scope="module")
def usages(commands: OttlaCommands, population: Population) -> Iterator[dict[str, Future[None]]]:
    """What is done with each kind of login, all begun at once: a command mostly waits."""

    def use(kind: str) -> None:
        login = population.login(kind)
        endpoint = population.endpoint(login)
        _assert_rights_are_checked(commands, endpoint, login)
        assert_allowed(commands, endpoint, login)
        if kind in KINDS_REFUSED:
            assert_refused(commands, endpoint, login)

    with ThreadPoolExecutor(len(KINDS)) as threads:
        yield {kind: threads.submit(use, kind) for kind in KINDS}


def _assert_rights_are_checked(commands: OttlaCommands, endpoint: Endpoint, login: Login) -> None:
    """Users have no rights on the cluster, with which they could list ACLs."""
    with pytest.raises(RefusedError, match=f"User:{login.name} at") as refused:
        commands.run(endpoint, login, "acls", "list")
    assert refused.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("kind", KINDS)
def test_users_may_do_what_acls_allow_and_no_more(
    usages: dict[str, Future[None]], kind: str
) -> None:
    usages[kind].result()


def test_token_may_do_what_its_owner_may(
    commands: OttlaCommands, population: Population, node: SecuredNode
) -> None:
    login = population.login("token")
    add = ("acls", "add", "--allow-principal", "User:tom", "--operation", "describe", "--cluster")
    commands.run(node.endpoint(), ADMIN, *add)
    listed = commands.run(node.endpoint(), login, "acls", "list", "--json")
    assert "User:tom" in listed


@pytest.mark.parametrize("command", [("topics", "list"), ("acls", "list")])
def test_certificate_of_another_host_is_refused(
    commands: OttlaCommands, node: SecuredNode, command: tuple[str, ...]
) -> None:
    elsewhere = node.endpoint("ELSEWHERE")
    with pytest.raises(UntrustedError):
        commands.run(elsewhere, ADMIN, *command)
    commands.run(replace(elsewhere, verifies_host=False), ADMIN, *command)


@pytest.mark.parametrize("listener", ["TLS12", "TLS13", "NOTLS"])
def test_versions_and_stores_of_listeners_serve_alike(
    commands: OttlaCommands, node: SecuredNode, listener: str
) -> None:
    commands.run(node.endpoint(listener, host="localhost"), ADMIN, "acls", "list")
