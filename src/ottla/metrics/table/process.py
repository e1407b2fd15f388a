"""The node and its process."""

from __future__ import annotations

from typing import Final

from ottla.metrics.family import counter, gauge, histogram, info

NODE_INFO: Final = info(
    "ottla_node_info",
    "The node: its id, cluster id, roles and rack.",
    "node_id",
    "cluster_id",
    "roles",
    "rack",
    kafka="kafka.server:type=KafkaServer,name=ClusterId",
)
BUILD_INFO: Final = info(
    "ottla_build_info",
    "Version of Ottla and of the Python interpreter.",
    "version",
    "python",
    kafka="kafka.server:type=app-info",
)
NODE_STATE: Final = gauge(
    "ottla_node_state",
    "1 for the state of the node (starting, registering, recovering, unfencing, running, "
    "stopping), 0 for the others.",
    "state",
    kafka="kafka.server:type=KafkaServer,name=BrokerState",
)
NODE_READY: Final = gauge(
    "ottla_node_ready",
    "1 if the node is ready, as /readyz says, else 0.",
)
LOGS_TO_RECOVER: Final = gauge(
    "ottla_logs_to_recover",
    "Logs that the node still has to open before it serves.",
    kafka="kafka.log:type=LogManager,name=remainingLogsToRecover",
)
EVENT_LOOP_DELAY: Final = histogram(
    "ottla_event_loop_delay_seconds",
    "Time by which a timer of the event loop was late: how long requests wait for other work of "
    "the node. Measured four times per second.",
)
SCRAPE_SECONDS: Final = histogram(
    "ottla_scrape_seconds",
    "Time to render the metrics for one request to /metrics.",
)
OTLP_EXPORTS: Final = counter(
    "ottla_otlp_exports_total",
    "Times that the node sent its metrics to ottla.metrics.otlp.endpoint, by outcome (succeeded or "
    "failed).",
    "outcome",
)

CPU_SECONDS: Final = counter(
    "process_cpu_seconds_total", "User and system processor time of the process."
)
RESIDENT_MEMORY: Final = gauge(
    "process_resident_memory_bytes", "Resident memory size of the process."
)
VIRTUAL_MEMORY: Final = gauge("process_virtual_memory_bytes", "Virtual memory size of the process.")
START_TIME: Final = gauge(
    "process_start_time_seconds", "Start time of the process, in seconds since the Unix epoch."
)
OPEN_FILES: Final = gauge("process_open_fds", "Open file descriptors of the process.")
OPEN_FILES_MAX: Final = gauge(
    "process_max_fds", "Maximum number of open file descriptors of the process."
)
GC_COLLECTIONS: Final = counter(
    "python_gc_collections_total",
    "Runs of Python's garbage collector, by generation.",
    "generation",
    kafka="java.lang:type=GarbageCollector,name=*",
)
GC_SECONDS: Final = counter(
    "ottla_gc_seconds_total",
    "Time in Python's garbage collector, during which the node handles no requests.",
    kafka="java.lang:type=GarbageCollector,name=*",
)

PROCESS_FAMILIES: Final = (
    NODE_INFO,
    BUILD_INFO,
    NODE_STATE,
    NODE_READY,
    LOGS_TO_RECOVER,
    EVENT_LOOP_DELAY,
    SCRAPE_SECONDS,
    OTLP_EXPORTS,
    CPU_SECONDS,
    RESIDENT_MEMORY,
    VIRTUAL_MEMORY,
    START_TIME,
    OPEN_FILES,
    OPEN_FILES_MAX,
    GC_COLLECTIONS,
    GC_SECONDS,
)
