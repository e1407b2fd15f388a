"""`ottla[postgres]`: the driver is there, and says that there is no database."""

from ottla.pipeline.capture.database import CaptureDatabase
from ottla.pipeline.capture.errors import CaptureError


def refusal() -> str:
    try:
        CaptureDatabase("host=127.0.0.1 port=1").describe("orders")
    except CaptureError as error:
        return str(error)
    return "there is a database on port 1"


assert "cannot connect to PostgreSQL" in refusal(), refusal()
