"""Planes that stay on the ground: flights after which a plane had no other for twelve hours.

A state machine with timers. Each flight sets one to twelve hours after it. When the watermark has
passed that moment, all flights up to it have come, and it is certain whether there was another.
"""

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor
from topics import FLIGHTS

from ottla.pipeline import Json, Topic, sink, source, view

PAUSE_MS = 12 * 60 * 60 * 1000


class Groundings(StatefulProcessor):
    """Of one plane; its state is when the flights were that may still matter."""

    def init(self, handle):
        self.handle = handle
        self.flights = handle.getListState("flights", "at bigint")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803 - Spark's names
        new = {row.at for row in rows} - {at for (at,) in self.flights.get()}
        if new:
            self.flights.appendList([(at,) for at in new])
        for at in new:
            self.handle.registerTimer(at + PAUSE_MS)
        return iter(())

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: N802, N803
        at = expiredTimerInfo.getExpiryTimeInMs() - PAUSE_MS
        later = [(each,) for (each,) in self.flights.get() if each >= at]
        self.flights.put(later)
        if not any(at < each <= at + PAUSE_MS for (each,) in later):
            yield Row(tailnum=key[0], at=at)


@source(FLIGHTS)
def flights(rows):
    return rows.withWatermark("scheduled", "24 hours")


@view
def grounded(flights):
    flown = flights.selectExpr("tailnum", "scheduled", "unix_millis(scheduled) AS at")
    found = flown.groupBy("tailnum").transformWithState(
        Groundings(), "tailnum string, at bigint", outputMode="append", timeMode="eventTime"
    )
    return found.selectExpr("tailnum", "timestamp_millis(at) AS since")


@sink(Topic("groundings", Json(), key="tailnum"))
def groundings(grounded):
    return grounded
