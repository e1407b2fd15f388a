"""Runs `ottla configs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.resource_configs import (
    SOURCES,
    alter_configs,
    described_configs,
    resource_text,
)
from ottla.cli.connection.topic_lookup import existing_topic
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.administration.admin import Admin
from ottla.client.administration.configs import DescribedConfig
from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource

# A shorter name than Kafka's, which scripts know.
_JSON_SOURCES: Final = {ConfigSource.DYNAMIC_GROUP_CONFIG: "group_config"}


def named_resource(
    *, topic: str | None, broker: int | None, group: str | None, client_metrics: str | None
) -> ConfigResource:
    if [topic, broker, group, client_metrics].count(None) != 3:
        raise CommandError(
            "Name one topic with --topic NAME, one broker with --broker ID, one group with "
            "--group NAME, or one subscription with --client-metrics NAME.",
            exit_code=ExitCode.USAGE,
        )
    if client_metrics is not None:
        return ConfigResource(ConfigResourceType.CLIENT_METRICS, client_metrics)
    if group is not None:
        return ConfigResource(ConfigResourceType.GROUP, group)
    if topic is not None:
        return ConfigResource(ConfigResourceType.TOPIC, topic)
    return ConfigResource(ConfigResourceType.BROKER, str(broker))


async def require_resource(admin: Admin, resource: ConfigResource) -> None:
    """Checks that the topic or broker exists. A group or a subscription need not exist yet."""
    if resource.type is ConfigResourceType.TOPIC:
        await existing_topic(admin, resource.name)
    elif resource.type is ConfigResourceType.BROKER:
        with doing("describe the cluster"):
            known = {broker.id for broker in (await admin.describe_cluster()).brokers}
        if int(resource.name) not in known:
            raise cluster_errors.unknown_broker(int(resource.name), known)


async def describe_configs(
    admin: Admin, terminal: Terminal, resource: ConfigResource, *, every: bool, as_json: bool
) -> None:
    await require_resource(admin, resource)
    configs = await described_configs(admin, resource)
    shown = [config for config in configs if every or not config.is_default]
    _print_configs(terminal, resource, shown, as_json=as_json)
    if not shown and not as_json:
        text = resource_text(resource)
        terminal.notice(f"Nothing is set on {text}; --all shows the defaults.")


async def change_configs(
    admin: Admin,
    terminal: Terminal,
    resource: ConfigResource,
    *,
    to_set: Mapping[str, str] | None = None,
    to_delete: Sequence[str] = (),
    as_json: bool,
) -> None:
    """Changes the configs, then shows their new values."""
    await require_resource(admin, resource)
    changed = dict.fromkeys([*(to_set or {}), *to_delete])
    configs = await described_configs(admin, resource)
    known = {config.name for config in configs}
    if unknown := [name for name in changed if known and name not in known]:
        raise cluster_errors.unknown_config(resource_text(resource), unknown[0], known)
    await alter_configs(admin, resource, to_set=to_set or {}, to_delete=to_delete)
    now = [config for config in await described_configs(admin, resource) if config.name in changed]
    _print_configs(terminal, resource, now, as_json=as_json)


def _print_configs(
    terminal: Terminal,
    resource: ConfigResource,
    configs: Sequence[DescribedConfig],
    *,
    as_json: bool,
) -> None:
    if as_json:
        for config in configs:
            terminal.print_json(config_json(resource, config))
    elif configs:
        terminal.stdout.print(configs_table(configs))


def configs_table(configs: Sequence[DescribedConfig]) -> Table:
    """Only brokers have configs that need a restart; only then there is a column for that."""
    has_fixed = any(config.is_read_only for config in configs)
    table = new_table("config", "from", *(("changes",) if has_fixed else ()), "value")
    for config in configs:
        source = Text(
            SOURCES.get(config.source, "unknown"), style="dim" if config.is_default else ""
        )
        changes = ("at restart" if config.is_read_only else "at once",) if has_fixed else ()
        table.add_row(config.name, source, *changes, value_text(config))
    return table


def value_text(config: DescribedConfig) -> Text:
    if config.is_sensitive:
        return Text("hidden", style="dim")
    if not config.value:
        return Text("null" if config.value is None else '""', style="dim")
    return Text(config.value)


def config_json(resource: ConfigResource, config: DescribedConfig) -> dict[str, Any]:
    return {
        resource.type.name.lower(): resource.name,
        "name": config.name,
        "value": config.value,
        "source": _JSON_SOURCES.get(config.source, config.source.name.lower()),
        "is_read_only": config.is_read_only,
        "is_sensitive": config.is_sensitive,
    }
