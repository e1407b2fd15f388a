"""The interfaces to the operating system: clock, disk, network, randomness and background work.

This package imports only what needs no event loop, because asyncio takes 40 ms to import. Programs
with an event loop import `SystemClock`, `SystemNetwork`, `SystemBackground` and `Tasks` from their
own modules.
"""

from ottla.runtime.background import Background, Finished, InlineBackground, WorkerCrashedError
from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.dice import Dice, RandomDice, SystemDice
from ottla.runtime.disk import Disk, File
from ottla.runtime.network import Address, Connection, ConnectionHandler, Listener, Network
from ottla.runtime.system_disk import SystemDisk

__all__ = [
    "Address",
    "Background",
    "BoundedDisk",
    "Clock",
    "Connection",
    "ConnectionHandler",
    "Dice",
    "Disk",
    "File",
    "Finished",
    "InlineBackground",
    "Listener",
    "Network",
    "RandomDice",
    "SystemDice",
    "SystemDisk",
    "Timer",
    "WorkerCrashedError",
]
