"""How late planes leave, by airport, manufacturer and day: flights joined to the table of planes,
and counted in windows. The counts go to a topic, the flights with their planes to a Delta table in the
directory in which the pipeline runs; each flight exactly once.

Planes are in one of several partitions, and these are read at a pace of their own, so a day is open
for a week.
"""

from dataclasses import replace

from topics import FLIGHTS, PLANES

from ottla.pipeline import Delta, Json, Topic, sink, source, view

# Bounds what passes through the driver on its way to the table.
BOUNDED = {"maxOffsetsPerTrigger": "40000"}


@source(replace(FLIGHTS, options=BOUNDED))
def flights(rows):
    return rows.withWatermark("scheduled", "7 days")


@source(PLANES)
def planes(rows):
    return rows


@view
def flown():
    return """
        SELECT carrier, flight, tailnum, origin, dest, delay, scheduled,
               coalesce(manufacturer, 'unknown') AS manufacturer
        FROM flights LEFT JOIN planes USING (tailnum)
    """


@view
def days():
    return """
        SELECT origin, manufacturer, window.start AS day,
               count(*) AS flights, sum(delay) AS delay
        FROM flown
        GROUP BY origin, manufacturer, window(scheduled, '1 day')
    """


@sink(Topic("punctuality", Json(), key="origin"), mode="update")
def punctuality(days):
    return days


@sink(Delta("flown.delta"))
def table(flown):
    return flown
