"""The protocol client of operators' commands: it sends requests to chosen nodes.

Ordinary clients hide which node responds and lack some requests (DescribeQuorum, reassignments of
partitions), so these commands have a client of their own. It works with Apache Kafka's clusters as
well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Self, TypeVar

from ottla.channels import ChannelError, NodeLink, UnknownRequestError
from ottla.channels.authentication import AuthenticationFailedError
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.channels.node_link import REQUEST_TIMEOUT_MS
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_errors import (
    LOGIN_HINT,
    cannot_connect,
    insecure,
    speaks_otherwise,
)
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.port_probe import PortProbe, reason_text
from ottla.cli.connection.rights_hints import rights_hint
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.model import ErrorCode
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address, Network
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tasks import Tasks
from ottla.runtime.tls.errors import TlsHandshakeError
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse
from ottla.wire.schema import Message

T = TypeVar("T")


class ClusterAdmin:
    """Connections to a cluster, opened on first use. Use it within `async with`."""

    def __init__(
        self,
        bootstrap: Sequence[Address],
        *,
        security: ChannelSecurity = PLAINTEXT,
        network: Network | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._bootstrap = tuple(bootstrap)
        self._security = security
        self._network = network or SystemNetwork()
        self._clock = clock or SystemClock()
        self._tasks = Tasks(_raise)
        self._links: dict[Address, NodeLink] = {}
        self._home: NodeLink | None = None

    async def send_request(self, request: Message, *, timeout_ms: int = REQUEST_TIMEOUT_MS) -> Any:
        """Sends a request to any node, which forwards requests for the active controller."""
        if self._home is None:
            self._home = await self._first_link()
        try:
            return await self._home.send_request(request, timeout_ms=timeout_ms)
        except UnknownRequestError as error:
            raise CommandError(
                f"{error}.",
                "Check that it is a broker's listener and that the broker is new enough.",
            ) from None
        except ChannelError as error:
            if isinstance(error.__cause__, TlsHandshakeError):
                raise insecure([self._home.address], str(error.__cause__)) from None
            raise CommandError(
                f"The node did not answer: {error}.",
                "`ottla cluster status` shows the state of the nodes; try again when they are up.",
                *([] if self._security.mechanism else [LOGIN_HINT]),
                exit_code=ExitCode.UNREACHABLE,
            ) from None

    async def send_to_node(
        self, address: Address, request: Message, *, timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> Any:
        """Sends a request to this node. Raises ChannelError if there is no response."""
        link = self._links.get(address) or await self._link(address)
        return await link.send_request(request, timeout_ms=timeout_ms)

    async def metadata(self) -> MetadataResponse:
        """All live brokers, and all topics."""
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        response: MetadataResponse = await self.send_request(request)
        return response

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._tasks.close()
        for link in self._links.values():
            link.close()
        # The loop closes the sockets in its next iteration.
        await self._clock.sleep(0)

    async def _link(self, address: Address) -> NodeLink:
        link = await NodeLink.connect(self._network, self._clock, address, security=self._security)
        first = self._links.setdefault(address, link)
        if first is not link:
            # Another task has connected to the same node meanwhile.
            link.close()
        return first

    async def _first_link(self) -> NodeLink:
        """The link to the bootstrap node that responds first, so a node that hangs causes no
        delay."""
        reasons: dict[Address, str] = {}
        refusals: dict[Address, str] = {}
        answers: asyncio.Queue[NodeLink | None] = asyncio.Queue()
        for address in self._bootstrap:
            self._tasks.start("connect", self._connect(address, answers, reasons, refusals))
        for _ in self._bootstrap:
            link = await answers.get()
            if link is not None:
                return link
        if refusals:
            raise insecure(refusals, next(iter(refusals.values())))
        raise cannot_connect(reasons)

    async def _connect(
        self,
        address: Address,
        answers: asyncio.Queue[NodeLink | None],
        reasons: dict[Address, str],
        refusals: dict[Address, str],
    ) -> None:
        try:
            link = await self._link(address)
        except AuthenticationFailedError as error:
            refusals[address] = error.reason
            answers.put_nowait(None)
        except ChannelError as error:
            cause = error.__cause__
            if isinstance(cause, TlsHandshakeError):
                refusals[address] = str(cause)
            reasons[address] = (
                reason_text(cause) if isinstance(cause, OSError) else "no valid response"
            )
            answers.put_nowait(None)
        else:
            answers.put_nowait(link)


def _raise(_name: str, error: BaseException) -> None:
    raise error


def with_admin(options: ClusterOptions, operation: Callable[[ClusterAdmin], Awaitable[T]]) -> T:
    """Runs `operation` with a ClusterAdmin, and closes its connections afterwards."""
    access = resolve(options)
    security = access.channel_security()

    async def run() -> T:
        async with ClusterAdmin(access.addresses, security=security) as admin:
            return await operation(admin)

    try:
        return asyncio.run(run())
    except CommandError as error:
        if error.exit_code is ExitCode.UNREACHABLE and not access.security.has_tls:
            require_kafka(access.addresses)
        raise


def require_kafka(addresses: Sequence[Address]) -> None:
    """Raises CommandError if a port has another protocol, such as TLS."""
    probe = PortProbe(SystemNetwork())
    for address in addresses:
        if protocol := probe.other_protocol(address):
            raise speaks_otherwise(address, protocol) from None


def refusal(doing: str, error_code: int, message: str | None) -> CommandError:
    """The error for a response with an error code. `doing` names the action."""
    name = ErrorCode(error_code).name
    reason = (message or name.replace("_", " ").lower()).rstrip(".")
    hint = rights_hint(name, reason) or _HINTS.get(name)
    return CommandError(f"Cannot {doing}: {reason} ({name}).", *([] if hint is None else [hint]))


_HINTS: Final = {
    "NOT_CONTROLLER": "There is no active controller just now: try again in a moment.",
    "REQUEST_TIMED_OUT": "Check that the nodes that this needs are running: "
    "`ottla quorum status` shows them.",
    "SECURITY_DISABLED": "The cluster has no authorizer: set authorizer.class.name="
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer on every node, and super.users.",
    "DELEGATION_TOKEN_AUTH_DISABLED": "Set delegation.token.secret.key, the same on every node.",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": "Authenticate with a user name and a password or a "
    "certificate: not on a plaintext listener, and not with a token.",
    "DELEGATION_TOKEN_OWNER_MISMATCH": "Only the owner of a token and its renewers may do this.",
    "THROTTLING_QUOTA_EXCEEDED": "The cluster limits the rate of these requests: try again later.",
    "UNSUPPORTED_VERSION": "The cluster's features do not allow this yet.",
}
