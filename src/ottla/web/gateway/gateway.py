"""A gateway: who calls, what is in flight, and which consumers are open. Its calls work on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.security.principal_mapping import PrincipalMapping
from ottla.tracing import Tracer
from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.callers.caller_pool import Admit, CallerPool
from ottla.web.gateway.callers.identification import NONE, Identification
from ottla.web.gateway.limits import GatewayLimits
from ottla.web.gateway.message_traces import MessageTraces
from ottla.web.gateway.producing import Producing
from ottla.web.gateway.sessions.gateway_sessions import GatewaySessions

_DEFAULT_MAPPING = PrincipalMapping(())


class Gateway:
    """Owned by one event loop: `start` once, then `close` once. `owner` is the address by which
    clients reach this gateway and no other."""

    def __init__(
        self,
        admit: Admit,
        clock: Clock,
        dice: Dice,
        *,
        owner: str,
        limits: GatewayLimits | None = None,
        schemes: Iterable[str] = (NONE,),
        mapping: PrincipalMapping = _DEFAULT_MAPPING,
        tracer: Tracer | None = None,
    ) -> None:
        self.limits = limits or GatewayLimits()
        self.clock = clock
        self.dice = dice
        self.callers = CallerPool(self.limits.callers, clock, admit)
        self.sessions = GatewaySessions(self.limits.sessions, clock, owner)
        self.traces = MessageTraces(tracer)
        self.producing = Producing(in_flight_bytes_max=self.limits.in_flight_bytes_max)
        self._identification = Identification(self.callers, schemes, mapping)

    def start(self) -> None:
        self.callers.start()
        self.sessions.start()

    async def close(self) -> None:
        """Leaves all groups and closes all clients. Requests have to be over."""
        await self.sessions.close()
        await self.callers.close()

    async def caller(self, scope: Mapping[str, Any]) -> CallerClients:
        """Raises GatewayProblem, or the client's error if the cluster refuses the credentials."""
        return await self._identification.caller(scope)
