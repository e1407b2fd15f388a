"""Each late flight with the wind at its airport in that hour: two streams joined.

Both remember what may still find its partner: flights for as long as weather may be late, and
weather for as long as planes may be.
"""

from topics import FLIGHTS, WEATHER

from ottla.pipeline import Json, Topic, sink, source, view


@source(FLIGHTS)
def flights(rows):
    return rows.withWatermark("scheduled", "24 hours")


@source(WEATHER)
def weather(rows):
    return rows.withWatermark("hour", "2 hours")


@view
def late():
    return "SELECT * FROM flights WHERE delay >= 60"


@sink(Topic("conditions", Json(), key="origin"))
def conditions():
    return """
        SELECT late.carrier, late.flight, late.origin, late.scheduled, late.delay, weather.wind
        FROM late JOIN weather
        ON late.origin = weather.origin
        AND late.scheduled >= weather.hour AND late.scheduled < weather.hour + INTERVAL 1 HOUR
    """
