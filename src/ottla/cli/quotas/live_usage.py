"""Runs `ottla quotas describe`: asks each node what clients with a quota use on it."""

from __future__ import annotations

from typing import NamedTuple

from ottla.channels import ChannelError
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.display.cells import NOTHING
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.quotas.values import quota_text
from ottla.quotas.usage import USAGE_TAG, QuotaUsage, decode_usage
from ottla.runtime.network import Address
from ottla.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)


class NodeUsage(NamedTuple):
    node_id: int
    usage: QuotaUsage


async def describe_usage(
    admin: ClusterAdmin,
    terminal: Terminal,
    user: str | None,
    client_id: str | None,
    *,
    as_json: bool,
) -> None:
    """Of the clients that share a quota of this user or client id, if they are given."""
    found = [
        each
        for each in await read_usage(admin)
        if user in (None, each.usage.user) and client_id in (None, each.usage.client_id)
    ]
    if as_json:
        for node_id, usage in found:
            terminal.print_json({"node": node_id, **usage._asdict()})
    elif not found:
        terminal.notice("No client with such a quota has sent a request lately.")
    else:
        table = new_table(
            "user", "client id", "node", "quota", "used", "limit", right=("used", "limit")
        )
        for node_id, usage in sorted(found, key=lambda each: (each.usage[:3], each.node_id)):
            table.add_row(
                usage.user or NOTHING,
                usage.client_id or NOTHING,
                str(node_id),
                usage.key,
                quota_text(usage.key, usage.used),
                quota_text(usage.key, usage.limit),
            )
        terminal.stdout.print(table)


async def read_usage(admin: ClusterAdmin) -> list[NodeUsage]:
    request = DescribeClientQuotasRequest()
    request.unknown_tags = {USAGE_TAG: b""}
    found = []
    for broker in (await admin.metadata()).brokers:
        address = Address(broker.host, broker.port)
        try:
            response: DescribeClientQuotasResponse = await admin.send_to_node(address, request)
        except ChannelError as error:
            raise CommandError(
                f"Node {broker.node_id} does not answer: {error}.",
                "`ottla cluster status` shows the state of the nodes.",
                exit_code=ExitCode.UNREACHABLE,
            ) from None
        if response.error_code:
            raise refusal("read the usage of quotas", response.error_code, response.error_message)
        data = (response.unknown_tags or {}).get(USAGE_TAG)
        if data is None:
            raise CommandError(
                "The nodes do not say what clients use: they are Apache Kafka's.",
                "Their JMX metrics show it.",
                exit_code=ExitCode.REFUSED,
            )
        found += [NodeUsage(broker.node_id, usage) for usage in decode_usage(data)]
    return found
