"""What is in the topics."""

from ottla.pipeline import Json, Table, Topic

FLIGHTS = Topic(
    "flights",
    Json(
        "carrier string, flight int, tailnum string, origin string NOT NULL, dest string, "
        "delay int, scheduled timestamp NOT NULL"
    ),
)
WEATHER = Topic("weather", Json("origin string, hour timestamp, wind double"))
PLANES = Table("planes", Json("tailnum string, manufacturer string, model string"))
