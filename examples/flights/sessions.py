"""The days of planes: flights of one plane with no more than twelve hours from one to the next. A
day is complete when nothing more can be added to it."""

from topics import FLIGHTS

from ottla.pipeline import Json, Topic, sink, source, view


@source(FLIGHTS)
def flights(rows):
    return rows.withWatermark("scheduled", "24 hours")


@view
def days():
    return """
        SELECT tailnum, session_window.start AS since, count(*) AS flights
        FROM flights
        GROUP BY tailnum, session_window(scheduled, '12 hours')
    """


@sink(Topic("sessions", Json(), key="tailnum"))
def sessions(days):
    return days
