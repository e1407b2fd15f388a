"""Each flight once, however often it was sent."""

from topics import FLIGHTS

from ottla.pipeline import Json, Topic, sink, source, view


@source(FLIGHTS)
def flights(rows):
    return rows.withWatermark("scheduled", "24 hours")


@view
def distinct(flights):
    return flights.dropDuplicatesWithinWatermark(["carrier", "flight", "origin", "scheduled"])


@sink(Topic("once", Json(), key="origin"))
def once(distinct):
    return distinct.select("carrier", "flight", "origin", "scheduled")
