"""What counts as bytes to hand on without copying."""

from __future__ import annotations

from collections.abc import Sized
from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

# A part of something to be sent: a buffer, or what the transport can send without it being read
# first, such as a stretch of a file. Its length is known either way.
Part: TypeAlias = Buffer | Sized
