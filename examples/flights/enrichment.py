"""Each flight with the plane that flew it: a stream joined to a table."""

from topics import FLIGHTS, PLANES

from ottla.pipeline import Json, Topic, sink, source


@source(FLIGHTS)
def flights(rows):
    return rows


@source(PLANES)
def planes(rows):
    return rows


@sink(Topic("enriched", Json(), key="tailnum"))
def enriched():
    return """
        SELECT carrier, flight, scheduled, tailnum, manufacturer, model
        FROM flights LEFT JOIN planes USING (tailnum)
    """
