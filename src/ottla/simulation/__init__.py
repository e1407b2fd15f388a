"""The seams simulated: a world with a seed."""

from ottla.simulation.clock import SimulatedClock
from ottla.simulation.dice import SeededDice
from ottla.simulation.disk import DiskCounters, SimulatedDisk
from ottla.simulation.disk_faults import DiskFaults, Operation, PowerLost

__all__ = [
    "DiskCounters",
    "DiskFaults",
    "Operation",
    "PowerLost",
    "SeededDice",
    "SimulatedClock",
    "SimulatedDisk",
]
