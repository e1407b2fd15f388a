"""A command's connection to a cluster, by `ottla.client.Admin`.

`with_admin` reports at once what a client would retry until its timeout: no process listens on the
port, the port has another protocol, or the brokers advertise addresses that cannot be reached from
here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, TypeVar

from ottla.channels.authentication import AuthenticationFailedError
from ottla.cli.client_security.refused_properties import refused_properties
from ottla.cli.connection import cluster_errors
from ottla.cli.connection.bootstrap_addresses import join_addresses
from ottla.cli.connection.client_properties import client_properties
from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_errors import AdvertisedBroker, refused
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.port_probe import PortProbe
from ottla.cli.display.terminal import Terminal
from ottla.client.administration.admin import Admin
from ottla.client.administration.cluster import ClusterDescription
from ottla.client.administration.settings import ADMIN_PROPERTIES
from ottla.client.errors import (
    ApiError,
    ClientError,
    RefusedConnectionError,
    TimedOutError,
)
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tls.errors import TlsHandshakeError

FIRST_ANSWER_TIMEOUT_S: Final = 1.0
ANSWER_TIMEOUT_S: Final = 9.0
REQUEST_TIMEOUT_S: Final = 30.0
_MS: Final = 1_000
# A controller's answers to requests for brokers.
_OF_CONTROLLERS: Final = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.MISMATCHED_ENDPOINT_TYPE)

T = TypeVar("T")


def with_admin(
    options: ClusterOptions,
    terminal: Terminal,
    operation: Callable[[Admin], Awaitable[T]],
    probe: PortProbe | None = None,
) -> T:
    """Runs `operation` with the cluster of the options, and closes the connections afterwards.
    Raises CommandError."""
    access = resolve(options)
    probe = probe or PortProbe(SystemNetwork())

    async def run() -> T:
        async with connected_admin(access, probe) as (admin, cluster):
            await _check_advertised(access, cluster, probe, terminal)
            return await operation(admin)

    return asyncio.run(run())


@asynccontextmanager
async def connected_admin(
    access: ClusterAccess, probe: PortProbe
) -> AsyncIterator[tuple[Admin, ClusterDescription]]:
    """An Admin of a cluster that has answered, and that answer. Raises CommandError, also for a
    ClientError of the body that says nothing about what was done."""
    access.require_files()
    reasons = await probe.why_unreachable(access.addresses)
    answering = tuple(address for address in access.addresses if address not in reasons)
    if not answering:
        raise cluster_errors.cannot_connect(reasons)
    properties = client_properties(access, ADMIN_PROPERTIES) | {
        "bootstrap.servers": join_addresses(answering)
    }
    properties.setdefault("default.api.timeout.ms", int(REQUEST_TIMEOUT_S * _MS))
    admin, cluster = await _first_answer(access, properties, answering, probe)
    try:
        with doing("use the cluster"):
            yield admin, cluster
    finally:
        await admin.close()


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Raises CommandError for an error of the cluster, which says what could not be done."""
    try:
        yield
    except ClientError as error:
        raise refused(what, error) from None


async def _first_answer(
    access: ClusterAccess,
    properties: Mapping[str, Any],
    addresses: tuple[Address, ...],
    probe: PortProbe,
) -> tuple[Admin, ClusterDescription]:
    """With a short timeout first: without a response the port may not be a broker's."""
    try:
        return await _open(properties, addresses, FIRST_ANSWER_TIMEOUT_S)
    except TimedOutError as error:
        reason = _security_reason(error)
    if not access.is_plaintext and reason is not None:
        raise cluster_errors.insecure(addresses, reason)
    if not access.security.has_tls:
        await require_kafka(addresses, probe)
    try:
        return await _open(properties, addresses, ANSWER_TIMEOUT_S)
    except TimedOutError as error:
        reason = _security_reason(error)
    if not access.is_plaintext and reason is not None:
        raise cluster_errors.insecure(addresses, reason)
    raise cluster_errors.no_answer(
        addresses,
        FIRST_ANSWER_TIMEOUT_S + ANSWER_TIMEOUT_S,
        has_sasl=access.security.has_sasl,
    )


async def _open(
    properties: Mapping[str, Any], addresses: tuple[Address, ...], timeout_s: float
) -> tuple[Admin, ClusterDescription]:
    """Closes the connections if there is no response: a server of another protocol may serve one at
    a time. Raises TimedOutError or CommandError."""
    with refused_properties():
        admin = Admin(properties)
    try:
        return admin, await _described(admin, addresses, timeout_s)
    except BaseException:
        await admin.close()
        raise


async def _described(
    admin: Admin, addresses: tuple[Address, ...], timeout_s: float
) -> ClusterDescription:
    try:
        return await admin.describe_cluster(timeout=timeout_s)
    except RefusedConnectionError as error:
        reason = _security_reason(error) or str(error)
        raise cluster_errors.insecure(addresses, reason) from None
    except ApiError as error:
        if error.code in _OF_CONTROLLERS:
            raise cluster_errors.controllers_port(addresses) from None
        raise refused("describe the cluster", error) from None


async def require_kafka(addresses: tuple[Address, ...], probe: PortProbe) -> None:
    """Raises CommandError if a port has another protocol, such as TLS."""
    for address in addresses:
        if protocol := await probe.other_protocol(address):
            raise cluster_errors.speaks_otherwise(address, protocol)


def _security_reason(error: BaseException | None) -> str | None:
    """Why one side refused the other, if that is among the causes."""
    while error is not None:
        if isinstance(error, AuthenticationFailedError):
            return error.reason
        if isinstance(error, TlsHandshakeError):
            return str(error)
        error = error.__cause__
    return None


async def _check_advertised(
    access: ClusterAccess, cluster: ClusterDescription, probe: PortProbe, terminal: Terminal
) -> None:
    """Raises CommandError if no broker can be reached. If some can, prints a notice of the
    others."""
    brokers = [AdvertisedBroker(each.id, Address(each.host, each.port)) for each in cluster.brokers]
    unknown = {broker.address for broker in brokers} - set(access.addresses)
    reasons = await probe.why_unreachable(unknown) if unknown else {}
    lost = {broker: reasons[broker.address] for broker in brokers if broker.address in reasons}
    if not lost:
        return
    error = cluster_errors.advertised_wrongly(access.addresses, lost)
    if len(lost) == len(brokers):
        raise error
    terminal.notice(error.message)
