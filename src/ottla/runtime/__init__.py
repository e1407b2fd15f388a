"""The seams to the world: clock, disk, network, dice, background work.

Here is what needs no event loop. asyncio takes 40 ms to import, so whoever runs a loop takes
`SystemClock`, `SystemNetwork`, `SystemBackground` and `Tasks` from their own modules.
"""

from ottla.runtime.background import Background, Finished, InlineBackground, WorkerCrashedError
from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.dice import Dice, RandomDice, SystemDice
from ottla.runtime.disk import Disk, File
from ottla.runtime.metrics import Counter, Gauge, Histogram, Metric, MetricName, Metrics
from ottla.runtime.network import Address, Connection, ConnectionHandler, Listener, Network
from ottla.runtime.system_disk import SystemDisk

__all__ = [
    "Address",
    "Background",
    "BoundedDisk",
    "Clock",
    "Connection",
    "ConnectionHandler",
    "Counter",
    "Dice",
    "Disk",
    "File",
    "Finished",
    "Gauge",
    "Histogram",
    "InlineBackground",
    "Listener",
    "Metric",
    "MetricName",
    "Metrics",
    "Network",
    "RandomDice",
    "SystemDice",
    "SystemDisk",
    "Timer",
    "WorkerCrashedError",
]
