"""The log directories of brokers, as the brokers describe them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ottla.channels import ChannelError
from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.cli.connection.cluster_admin import ClusterAdmin, refusal
from ottla.cli.connection.cluster_errors import unknown_broker
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.wire.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from ottla.wire.schema import Message


class Replica(NamedTuple):
    """`lag` is what it lacks: a future replica of the current one, a current one of what the
    leader has committed."""

    topic: str
    partition: int
    size_in_bytes: int
    lag: int
    # On its way to this directory; it replaces the current one when it has caught up.
    is_future: bool


class LogDir(NamedTuple):
    """`error` is Kafka's name for why it cannot be used."""

    broker: int
    path: str
    error: str | None
    # None where the broker is too old to tell.
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool
    replicas: tuple[Replica, ...]

    @property
    def size_in_bytes(self) -> int:
        return sum(replica.size_in_bytes for replica in self.replicas)


async def broker_addresses(admin: ClusterAdmin) -> dict[int, Address]:
    metadata = await admin.metadata()
    return {
        broker.node_id: Address(broker.host, broker.port)
        for broker in sorted(metadata.brokers, key=lambda each: each.node_id)
    }


async def log_dirs(admin: ClusterAdmin, broker: int) -> list[LogDir]:
    """All of a broker's, with all replicas. Raises CommandError."""
    addresses = await broker_addresses(admin)
    if broker not in addresses:
        raise unknown_broker(broker, addresses)
    request = DescribeLogDirsRequest(topics=None)
    response: DescribeLogDirsResponse = await send_to_broker(
        admin, broker, addresses[broker], request
    )
    if response.error_code:
        raise refusal(f"describe the log directories of broker {broker}", response.error_code, None)
    return sorted((_log_dir(broker, each) for each in response.results), key=lambda each: each.path)


async def send_to_broker(
    admin: ClusterAdmin, broker: int, address: Address, request: Message
) -> Any:
    """Raises CommandError where there is no answer."""
    try:
        return await admin.send_to_node(address, request)
    except ChannelError as error:
        raise CommandError(
            f"Broker {broker} ({address_text(address)}) did not answer: {error}.",
            "`ottla cluster status` shows which brokers serve.",
            exit_code=ExitCode.UNREACHABLE,
        ) from None


def _log_dir(broker: int, result: DescribeLogDirsResult) -> LogDir:
    return LogDir(
        broker,
        result.log_dir,
        ErrorCode(result.error_code).name if result.error_code else None,
        total_bytes=None if result.total_bytes < 0 else result.total_bytes,
        usable_bytes=None if result.usable_bytes < 0 else result.usable_bytes,
        is_cordoned=result.is_cordoned,
        replicas=tuple(
            Replica(
                topic.name,
                partition.partition_index,
                partition.partition_size,
                partition.offset_lag,
                is_future=partition.is_future_key,
            )
            for topic in sorted(result.topics, key=lambda each: each.name)
            for partition in sorted(topic.partitions, key=lambda each: each.partition_index)
        ),
    )
