from __future__ import annotations

from ottla.broker.control.departures import Departures
from ottla.metadata import MetadataDelta, MetadataImage
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.controller.cluster_images import broker, image_of

SESSION_SECONDS = 9


class Cluster:
    """Broker 1, as its metadata changes."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        self.departures = Departures(self.clock, session_timeout_ms=SESSION_SECONDS * 1_000)
        self._image = MetadataImage()

    def show(self, *, fenced: bool | None) -> frozenset[int]:
        """Which brokers have just departed once it is fenced or not, or unregistered."""
        before = self._image.brokers.get(1)
        self._image = image_of() if fenced is None else image_of(broker(1, fenced=fenced))
        self.departures.apply(MetadataDelta(brokers_changed={1: before}), self._image)
        return self.departures.recent()


def test_a_broker_has_departed_for_as_long_as_its_session_lasts() -> None:
    cluster = Cluster()
    assert not cluster.show(fenced=False)

    assert cluster.show(fenced=True) == {1}
    cluster.clock.advance(SESSION_SECONDS - 0.1)
    # It changes in another way, and departs no second time.
    assert cluster.show(fenced=True) == {1}
    cluster.clock.advance(0.1)
    assert not cluster.departures.recent()


def test_a_broker_that_has_not_served_yet_does_not_depart() -> None:
    assert not Cluster().show(fenced=True)


def test_a_broker_that_serves_again_or_is_unregistered_has_not_departed() -> None:
    for fenced in (False, None):
        cluster = Cluster()
        cluster.show(fenced=False)
        assert cluster.show(fenced=True)
        assert not cluster.show(fenced=fenced)
