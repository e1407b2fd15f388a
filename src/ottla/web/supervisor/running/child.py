"""A pipeline's process, as its supervisor sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ottla.web.supervisor.model.deployment import Deployment
from ottla.web.supervisor.model.lifecycle import Exit


class ChildRefusedError(Exception):
    """The child cannot be started, now or later: the definition is missing or has changed."""


class Child(Protocol):
    """`renew` extends its lease, without which it ends itself: `until` is a time of the monotonic
    clock, which all processes of a host share."""

    @property
    def progress(self) -> Mapping[str, Mapping[str, Any]]:
        """The last progress of each query."""

    def renew(self, until: float) -> None: ...

    def stop(self) -> None:
        """Ends it in order. It may take a while, or for ever."""

    def kill(self) -> None: ...

    async def ended(self) -> Exit:
        """Returns when the process is gone."""


class Children(Protocol):
    async def start(self, deployment: Deployment, epoch: int, until: float) -> Child:
        """Raises ChildRefusedError, or OSError."""
