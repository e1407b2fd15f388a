"""The log directories of a broker, for the commands."""

from __future__ import annotations

from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import unknown_broker
from ottla.client.administration.admin import Admin
from ottla.client.administration.log_dirs import LogDir


async def broker_ids(admin: Admin) -> list[int]:
    with doing("describe the cluster"):
        return [broker.id for broker in (await admin.describe_cluster()).brokers]


async def log_dirs(admin: Admin, broker: int) -> tuple[LogDir, ...]:
    """All of a broker's, with all replicas. Raises CommandError."""
    known = await broker_ids(admin)
    if broker not in known:
        raise unknown_broker(broker, known)
    with doing(f"describe the log directories of broker {broker}"):
        return (await admin.describe_log_dirs([broker]))[broker]
