"""The ten places that most flights went to, updated after each batch."""

from topics import FLIGHTS

from ottla.pipeline import Json, Topic, sink, source, view


@source(FLIGHTS)
def flights(rows):
    return rows


@view
def top():
    return """
        SELECT dest, count(*) AS flights FROM flights
        GROUP BY dest ORDER BY flights DESC, dest LIMIT 10
    """


@sink(Topic("destinations", Json(), key="dest"), mode="complete")
def destinations(top):
    return top
