"""One supervisor: puts topic, group, children and routes together."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ottla.client.cluster import ClientSeams
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import supervisors as metric_table
from ottla.security.sasl.mechanism import Mechanism
from ottla.web.service.application import WebApplication
from ottla.web.service.cluster_login import ClusterLogin
from ottla.web.service.forwarding import InstanceClient, peer_context
from ottla.web.service.identity import NoAuthentication, WebAuthenticator
from ottla.web.service.listening import (
    HttpTls,
    ListenAddress,
    check_exposure,
    exposure_warning,
)
from ottla.web.service.monitoring import WebMonitoring
from ottla.web.service.web_server import WebServer
from ottla.web.supervisor.api.changing import SupervisorChanges
from ottla.web.supervisor.api.forwarded import OwnerRequests
from ottla.web.supervisor.api.payloads import render_problem
from ottla.web.supervisor.api.reading import ReadingApi
from ottla.web.supervisor.api.routes import supervisor_routes
from ottla.web.supervisor.running.child_process import ChildSettings, ProcessChildren
from ottla.web.supervisor.running.definition_check import DefinitionCheck
from ottla.web.supervisor.running.owned_pipeline import OwnedPipeline
from ottla.web.supervisor.running.shard_members import ShardMembers
from ottla.web.supervisor.storing.pipeline_topic import PipelineTopic

_log = logging.getLogger(__name__)

DEFAULT_TOPIC: Final = "_ottla-pipelines"
DEFAULT_GROUP: Final = "ottla-pipelines"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorSettings:
    """`properties` are those of the clients by which the supervisor uses the cluster. With
    `logs_in`, callers are checked by the cluster, passwords by this mechanism. `peer_ca` is the
    authority of the other supervisors' certificates."""

    listen: ListenAddress
    children: ChildSettings
    properties: Mapping[str, Any] = field(repr=False)
    advertise: ListenAddress | None = None
    tls: HttpTls | None = None
    logs_in: Mechanism | None = None
    peer_ca: Path | None = None
    topic: str = DEFAULT_TOPIC
    group_id: str = DEFAULT_GROUP


class PipelineSupervisor:
    """Runs from `start` to `close`, on one event loop."""

    def __init__(self, settings: SupervisorSettings, seams: ClientSeams | None = None) -> None:
        """Raises ListenError and ConfigError."""
        check_exposure(settings.listen, settings.tls, authenticates=settings.logs_in is not None)
        self._settings = settings
        self._seams = seams = seams or ClientSeams.system()
        self.metrics = Metrics()
        self.worker = ""
        self.topic = PipelineTopic(settings.topic, settings.properties, seams)
        self._children = ProcessChildren(settings.children)
        self.members = ShardMembers(
            settings.group_id, settings.properties, seams, self.topic, self._children
        )
        self._client = InstanceClient(peer_context(settings.tls, settings.peer_ca))
        requests = OwnerRequests(
            self.members, self.topic, self._client, seams.clock, lambda: self.worker
        )
        reading = ReadingApi(self.topic, self.members, requests, settings.children)
        check = DefinitionCheck(settings.children)
        changing = SupervisorChanges(self.topic.table, requests, reading, settings.children, check)
        self._measure()
        application = WebApplication(
            supervisor_routes(reading, changing),
            WebMonitoring(self.metrics, seams.clock, self._not_ready),
            self._authenticator(),
            render_problem,
            is_local=settings.listen.is_loopback and settings.logs_in is None,
        )
        self._server = WebServer(application, settings.listen, settings.tls)

    async def start(self) -> ListenAddress:
        """Returns the address where it serves. Raises ListenError and ClientError."""
        settings = self._settings
        authenticates = settings.logs_in is not None
        warning = exposure_warning(settings.listen, settings.tls, authenticates=authenticates)
        if warning is not None:
            _log.warning("%s", warning)
        await self.topic.start()
        address = await self._server.start()
        advertised = settings.advertise or address
        self.worker = str(advertised)
        await self.members.start(
            worker=self.worker,
            scheme="http" if settings.tls is None else "https",
            host=advertised.host,
            port=advertised.port,
        )
        return address

    async def close(self) -> None:
        """Ends all children in order; others take their pipelines over at once."""
        await self._server.close()
        await self.members.close()
        await self._children.close()
        await self.topic.close()
        self._client.close()

    def _authenticator(self) -> WebAuthenticator:
        mechanism = self._settings.logs_in
        if mechanism is None:
            return NoAuthentication()
        return ClusterLogin(self.topic.settings, self._seams, mechanism, topic=self._settings.topic)

    def _not_ready(self) -> str:
        return "" if self.topic.is_read else "reading the state of pipelines"

    # ---- metrics

    def _measure(self) -> None:
        measure = self.metrics.measure
        measure(metric_table.SUPERVISED, self._states)
        measure(metric_table.SUPERVISED_SHARDS, lambda: [((), self._claimed())])
        measure(
            metric_table.SUPERVISED_FAILURES,
            lambda: [((each.deployment.name,), each.failures) for each in self._pipelines()],
        )
        measure(metric_table.SUPERVISED_ROWS, lambda: self._of_queries("rows_total"))
        measure(metric_table.SUPERVISED_LAG, lambda: self._of_queries("lag"))

    def _claimed(self) -> int:
        return sum(shard.is_claimed for shard in self.members.shards.values())

    def _states(self) -> list[Sample]:
        counts: dict[str, int] = {}
        for each in self._pipelines():
            counts[each.state] = counts.get(each.state, 0) + 1
        return [((state.lower(),), count) for state, count in counts.items()]

    def _of_queries(self, name: str) -> Iterator[Sample]:
        for pipeline in self._pipelines():
            for query, progress in pipeline.progress.items():
                value = progress.get(name)
                if isinstance(value, int | float):
                    yield (pipeline.deployment.name, query), value

    def _pipelines(self) -> Iterator[OwnedPipeline]:
        for shard in list(self.members.shards.values()):
            yield from list(shard.pipelines.values())
