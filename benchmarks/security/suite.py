"""The comparison over TLS in its order: producing, consuming; then authorization."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from benchmarks.figure import Figure
from benchmarks.security import authorization
from benchmarks.security.producers import Producers
from benchmarks.security.servers import (
    Certificates,
    TlsKafkaServer,
    TlsOttlaServer,
    certificates,
    with_tls,
)
from benchmarks.versus import consume, produce
from benchmarks.versus.clients import Client, JavaClient, ProgramClient, loading_client
from benchmarks.versus.comparison import Bench, Bound, Report, available, started, unbound
from benchmarks.versus.scale import FULL, QUICK
from benchmarks.versus.servers import Server
from tests.conformance.kafka.process import reason_unavailable

_PRODUCERS = 2
_SPEED = Bound(ratio_min=1.2)
_CPU = Bound(ratio_max=0.6)


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is told what this machine lacks."""
    scale = QUICK if quick else replace(FULL, warmup_bytes=FULL.warmup_bytes // 2)
    kinds: list[type[Server]] = available(TlsOttlaServer, TlsKafkaServer, note)
    client, is_bounded = loading_client(note)
    with certificates() as certified:
        sides = (with_tls(kind, certified) for kind in kinds)
        with started(sides, report) as servers:
            bench = Bench(servers, scale, report)
            secured = replace(client, settings=certified.client_settings())
            for figure in _loads(bench, secured, certified):
                yield figure if is_bounded else unbound(figure)
    yield from authorization.figures()


def _loads(bench: Bench, client: ProgramClient, certified: Certificates) -> Iterator[Figure]:
    produce.warm_up(bench, client)
    yield from _produced(bench, Producers(client, _PRODUCERS), produce.ACKS_ALL)
    if reason_unavailable() is None:
        settings = produce.ACKS_ALL.settings | certified.java_settings()
        yield from _produced(bench, JavaClient(), replace(produce.ACKS_ALL, settings=settings))
    with consume.filled(bench, client) as filled:
        yield from produce.speed_and_cpu(
            f"consume 1 KB over TLS ({client.name})",
            f"CPU per GB consumed over TLS ({client.name})",
            filled.samples(client),
            _SPEED,
            _CPU,
        )


def _produced(bench: Bench, client: Client, load: produce.Load) -> Iterator[Figure]:
    yield from produce.speed_and_cpu(
        f"produce 1 KB over TLS, acks=all ({client.name})",
        f"CPU per GB produced over TLS ({client.name})",
        produce.samples_of(bench, client, load),
        _SPEED,
        _CPU,
    )
