"""Types of data that is passed on without copying."""

from __future__ import annotations

from collections.abc import Sized
from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

# A part of data to be sent: a buffer, or an object of known length that the transport can send
# without reading it first, such as a slice of a file.
Part: TypeAlias = Buffer | Sized
