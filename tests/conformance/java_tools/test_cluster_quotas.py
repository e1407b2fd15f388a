"""kafka-configs sets, shows and deletes the quotas of every kind of entity."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.nodes.cluster_processes import wait_until
from tests.support.soak import IS_SOAK

pytestmark = pytest.mark.java

CONFIGS = "kafka-configs"
RATES = "producer_byte_rate=1000,consumer_byte_rate=2000,request_percentage=0.5"
# The options that name an entity, the quotas, and what kafka-configs shows.
ENTITIES = {
    "user": (("--entity-type", "users", "--entity-name", "alice"), RATES, "user-principal 'alice'"),
    "default user": (
        ("--entity-type", "users", "--entity-default"),
        RATES,
        "the default user-principal",
    ),
    "client id": (
        ("--entity-type", "clients", "--entity-name", "app"),
        "controller_mutation_rate=1.5",
        "client-id 'app'",
    ),
    "default client id": (
        ("--entity-type", "clients", "--entity-default"),
        RATES,
        "the default client-id",
    ),
    "user with a client id": (
        (
            *("--entity-type", "users", "--entity-name", "alice"),
            *("--entity-type", "clients", "--entity-name", "app"),
        ),
        RATES,
        "user-principal 'alice', client-id 'app'",
    ),
    "address": (
        ("--entity-type", "ips", "--entity-name", "192.0.2.1"),
        "connection_creation_rate=100",
        "ip '192.0.2.1'",
    ),
    "default address": (
        ("--entity-type", "ips", "--entity-default"),
        "connection_creation_rate=200",
        "the default ip",
    ),
}


# Each call starts a JVM: OTTLA_SOAK=1 tries all kinds of entities.
TRIED = ENTITIES if IS_SOAK else ("user with a client id", "default address")


@pytest.mark.parametrize("entity", TRIED)
def test_quotas_of_an_entity_live_from_set_to_delete(tools: ClusterTools, entity: str) -> None:
    options, quotas, shown = ENTITIES[entity]
    names = [each.partition("=")[0] for each in quotas.split(",")]
    tools(CONFIGS, "--alter", *options, "--add-config", quotas, via=1)
    wait_shown(tools, options, shown, *names)
    tools(CONFIGS, "--alter", *options, "--delete-config", ",".join(names), via=2)
    wait_until(
        lambda: shown not in tools(CONFIGS, "--describe", *options, via=3),
        f"the quotas of {entity} are gone",
    )


def test_limits_of_users_are_shown(tools: ClusterTools) -> None:
    """kafka-configs refuses to set them, because Kafka does not have them."""
    command = ["quotas", "set", "--user", "bob", "topics_max=5", "-b", tools.bootstrap(1)]
    done = CliRunner().invoke(make_app("quotas"), command)
    assert done.exit_code == 0, done.output
    wait_shown(
        tools,
        ("--entity-type", "users", "--entity-name", "bob"),
        "user-principal 'bob'",
        "topics_max=5.0",
    )


def wait_shown(tools: ClusterTools, options: Sequence[str], shown: str, *names: str) -> None:
    """Another node shows them, too."""

    def are_shown() -> bool:
        output = tools(CONFIGS, "--describe", *options, via=3)
        return f"Quota configs for {shown} are" in output and all(name in output for name in names)

    wait_until(are_shown, f"kafka-configs shows the quotas of {shown}")
