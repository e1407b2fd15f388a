"""What a node does: it starts, runs, and stops.

    STARTING ──▶ REGISTERING ──▶ RECOVERING ──▶ UNFENCING ──▶ RUNNING ──▶ STOPPING
                      └──────── a node that is no broker ────────▲

The values are the names in the metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum


class NodeStage(Enum):
    # Opens the metadata log.
    STARTING = "starting"
    # Waits for the active controller to register it.
    REGISTERING = "registering"
    # Opens its logs; after an unclean shutdown it recovers them.
    RECOVERING = "recovering"
    # Waits for the active controller to let it serve.
    UNFENCING = "unfencing"
    RUNNING = "running"
    STOPPING = "stopping"


class NodeProgress:
    """Written by the node, read by its monitoring."""

    def __init__(self) -> None:
        self.state = NodeStage.STARTING
        self.opened_logs = 0
        self.all_logs = 0
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Registers a listener that is called when the state has changed."""
        self._listeners.append(listener)

    def enter(self, state: NodeStage) -> None:
        self.state = state
        for listener in self._listeners:
            listener()

    def log_opened(self, opened: int, of: int) -> None:
        self.opened_logs, self.all_logs = opened, of
