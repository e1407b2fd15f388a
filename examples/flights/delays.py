"""How late flights are, by airport: windows of three hours, one beginning each hour.

Flights come as late as they leave. The longest delay of that year was almost 22 hours, so for a day
a window still takes what belongs to it.
"""

from topics import FLIGHTS

from ottla.pipeline import Json, Topic, sink, source, view


@source(FLIGHTS)
def flights(rows):
    return rows.withWatermark("scheduled", "24 hours")


@view
def windows():
    return """
        SELECT origin, window.start AS since, window.end AS until,
               count(*) AS flights, round(avg(delay), 1) AS delay
        FROM flights
        GROUP BY origin, window(scheduled, '3 hours', '1 hour')
    """


@sink(Topic("delays", Json(), key="origin"), mode="update")
def delays(windows):
    return windows
