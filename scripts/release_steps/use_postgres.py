"""`ottla[postgres]`: the driver is there, and says that there is no database."""

from ottla.pipeline.capture.database import CaptureDatabase
from ottla.pipeline.capture.errors import CaptureError

try:
    CaptureDatabase("host=127.0.0.1 port=1").describe("orders")
except CaptureError as error:
    assert "cannot connect to PostgreSQL" in str(error), error
else:
    raise AssertionError("there is a database on port 1")
