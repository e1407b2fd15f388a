"""The properties of each worker of a host, derived from the properties of one node.

Worker k has the node id plus 1000 k, the ports plus 100 k, and the directory `worker-k` below each
log directory. Only worker 0 can be a controller. All workers have the same rack, so that no
partition has two replicas on the host while other racks are there. The supervisor serves the
metrics of all workers at the address of the properties; each worker serves its own on loopback, on
a port 100 (k + 1) above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ottla.cli.connection.bootstrap_addresses import PORT_MAX, address_text
from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.listeners import ConfiguredListener
from ottla.runtime.network import Address

WORKERS_MAX: Final = 64
_IDS_APART: Final = 1_000
_PORTS_APART: Final = 100
_LOOPBACK: Final = "127.0.0.1"
_METRICS: Final = "ottla.metrics.listener"
_BOOTSTRAP: Final = "controller.quorum.bootstrap.servers"


def worker_directory(log_dir: str, number: int) -> str:
    return f"{log_dir.rstrip('/')}/worker-{number}"


def plan_workers(
    properties: Mapping[str, str], count: int, *, host: str | None = None
) -> tuple[dict[str, str], ...]:
    """The properties of each worker. `host` is their rack if the properties have none.

    Raises InvalidConfigError for properties that workers cannot share.
    """
    shared = _with_quorum(properties)
    node = NodeConfig.of(shared)
    listeners = node.listeners
    if not node.is_broker:
        raise InvalidConfigError(
            "--workers is for brokers, and process.roles of this node does not contain broker; "
            "start it without --workers"
        )
    if not all(listener.port for listener in (*listeners.broker, *listeners.controller)):
        raise InvalidConfigError(
            "listeners has port 0, but workers find each other by fixed ports; give each a number"
        )
    if node.metrics_listener is not None and not node.metrics_listener.port:
        raise InvalidConfigError(f"{_METRICS} has port 0; workers need a fixed port")
    if host is not None and not shared.get("broker.rack"):
        shared["broker.rack"] = host
    workers = tuple(_worker(shared, node, number) for number in range(count))
    _refuse_shared_ports(map(NodeConfig.of, workers))
    return workers


def _with_quorum(properties: Mapping[str, str]) -> dict[str, str]:
    """A node that stands alone gets what its workers need to find their controller."""
    shared = {name: value for name, value in properties.items() if name != "broker.id"}
    node = NodeConfig.of(properties)
    shared["node.id"] = str(node.node_id)
    if not node.is_standalone:
        return shared
    if node.listeners.controller:
        controller = node.listeners.controller[0]
        address = Address(controller.host or "localhost", controller.port)
    else:
        address = Address(_LOOPBACK, _shifted(node.listeners.broker[0].port, 1))
        name = node.listeners.controller_names[0]
        added = f"{name}://{address_text(address)}"
        shared["listeners"] = f"{_texts(node.listeners.broker)},{added}"
        if "advertised.listeners" not in shared:
            shared["advertised.listeners"] = _texts(node.listeners.advertised)
    shared[_BOOTSTRAP] = address_text(address)
    return shared


def _worker(shared: Mapping[str, str], node: NodeConfig, number: int) -> dict[str, str]:
    listeners = node.listeners
    # Others follow the quorum as brokers, and have no controller listener.
    controllers = listeners.controller if number == 0 else ()
    worker = {
        **shared,
        "node.id": str(node.node_id + _IDS_APART * number),
        "process.roles": ",".join(node.process_roles) if number == 0 else "broker",
        "listeners": _texts((*listeners.broker, *controllers), shift=_PORTS_APART * number),
        "log.dirs": ",".join(worker_directory(each, number) for each in node.log_dirs),
    }
    worker.pop("log.dir", None)
    if "advertised.listeners" in shared:
        advertised = (*listeners.advertised, *_advertised(listeners.advertised_controller, shared))
        worker["advertised.listeners"] = _texts(
            advertised if number == 0 else listeners.advertised, shift=_PORTS_APART * number
        )
    if node.metrics_listener is not None:
        port = _shifted(node.metrics_listener.port, _PORTS_APART * (number + 1))
        worker[_METRICS] = address_text(Address(_LOOPBACK, port))
    if "metadata.log.dir" in shared:
        worker["metadata.log.dir"] = worker_directory(node.metadata_log_dir, number)
    return worker


def _advertised(
    listeners: Iterable[ConfiguredListener], shared: Mapping[str, str]
) -> list[ConfiguredListener]:
    """The controller listeners that the properties advertise by name."""
    names = {
        text.strip().partition(":")[0].upper() for text in shared["advertised.listeners"].split(",")
    }
    return [listener for listener in listeners if listener.name in names]


def _texts(listeners: Sequence[ConfiguredListener], *, shift: int = 0) -> str:
    return ",".join(
        f"{name}://{address_text(Address(host, _shifted(port, shift)))}"
        for name, host, port, _ in listeners
    )


def _shifted(port: int, shift: int) -> int:
    if port + shift > PORT_MAX:
        raise InvalidConfigError(
            f"a worker would listen on port {port + shift}, and ports end at {PORT_MAX}; use lower "
            "ports in listeners, or fewer workers"
        )
    return port + shift


def _refuse_shared_ports(workers: Iterable[NodeConfig]) -> None:
    owners: dict[int, int] = {}
    for number, worker in enumerate(workers):
        ports = [each.port for each in (*worker.listeners.broker, *worker.listeners.controller)]
        if worker.metrics_listener is not None:
            ports.append(worker.metrics_listener.port)
        for port in ports:
            owner = owners.setdefault(port, number)
            if owner != number:
                raise InvalidConfigError(
                    f"workers {owner} and {number} would both listen on port {port}: each "
                    f"worker's ports are {_PORTS_APART} above those of the worker before it; use "
                    f"ports in listeners that do not differ by a multiple of {_PORTS_APART}"
                )
