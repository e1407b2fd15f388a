"""Runs `ottla configs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.cluster_client import ConnectedCluster, connect
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.config_entries import (
    SOURCES,
    Config,
    Resource,
    alter_configs,
    described_configs,
)
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode


def open_resource(
    terminal: Terminal,
    options: ClusterOptions,
    *,
    topic: str | None,
    broker: int | None,
    group: str | None,
) -> tuple[ConnectedCluster, Resource]:
    """Connects, and checks that the topic or broker exists. A group need not exist yet."""
    if [topic, broker, group].count(None) != 2:
        raise CommandError(
            "Name one topic with --topic NAME, one broker with --broker ID, or one group with "
            "--group NAME.",
            exit_code=ExitCode.USAGE,
        )
    cluster = connect(options, terminal)
    if group is not None:
        return cluster, Resource.group(group)
    if topic is not None:
        cluster.topic(topic)
        return cluster, Resource.topic(topic)
    assert broker is not None
    if broker not in cluster.metadata.brokers:
        raise cluster_errors.unknown_broker(broker, cluster.metadata.brokers)
    return cluster, Resource.broker(broker)


def describe_configs(
    cluster: ConnectedCluster, terminal: Terminal, resource: Resource, *, every: bool, as_json: bool
) -> None:
    configs = described_configs(cluster, resource)
    shown = [config for config in configs if every or not config.is_default]
    _print_configs(terminal, resource, shown, as_json=as_json)
    if not shown and not as_json:
        terminal.notice(f"Nothing is set on {resource}; --all shows the defaults.")


def change_configs(
    cluster: ConnectedCluster,
    terminal: Terminal,
    resource: Resource,
    *,
    to_set: Mapping[str, str] | None = None,
    to_delete: Sequence[str] = (),
    as_json: bool,
) -> None:
    """Changes the configs, then shows their new values."""
    changed = dict.fromkeys([*(to_set or {}), *to_delete])
    configs = described_configs(cluster, resource)
    known = {config.name for config in configs}
    if unknown := [name for name in changed if known and name not in known]:
        raise cluster_errors.unknown_config(str(resource), unknown[0], known)
    alter_configs(cluster, resource, to_set=dict(to_set or {}), to_delete=list(to_delete))
    now = [config for config in described_configs(cluster, resource) if config.name in changed]
    _print_configs(terminal, resource, now, as_json=as_json)


def _print_configs(
    terminal: Terminal, resource: Resource, configs: Sequence[Config], *, as_json: bool
) -> None:
    if as_json:
        for config in configs:
            terminal.print_json(config_json(resource, config))
    elif configs:
        terminal.stdout.print(configs_table(configs))


def configs_table(configs: Sequence[Config]) -> Table:
    """Only brokers have configs that need a restart; only then there is a column for that."""
    has_fixed = any(config.is_read_only for config in configs)
    table = new_table("config", "from", *(("changes",) if has_fixed else ()), "value")
    for config in configs:
        source = Text(
            SOURCES.get(config.source.name, "unknown"), style="dim" if config.is_default else ""
        )
        changes = ("at restart" if config.is_read_only else "at once",) if has_fixed else ()
        table.add_row(config.name, source, *changes, value_text(config))
    return table


def value_text(config: Config) -> Text:
    if config.is_sensitive:
        return Text("hidden", style="dim")
    if not config.value:
        return Text("null" if config.value is None else '""', style="dim")
    return Text(config.value)


def config_json(resource: Resource, config: Config) -> dict[str, Any]:
    return {
        resource.type.name.lower(): resource.name,
        "name": config.name,
        "value": config.value,
        "source": config.source.name.lower(),
        "is_read_only": config.is_read_only,
        "is_sensitive": config.is_sensitive,
    }
