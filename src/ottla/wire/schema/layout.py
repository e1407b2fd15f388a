"""The parts of a message's class that the compilers need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ottla.model import Buffer
from ottla.wire.schema.struct import Struct
from ottla.wire.schema.versions import Versions

Encoder = Callable[[Any, list[Any]], None]
Decoder = Callable[[Buffer, int], tuple[Any, int]]


class VersionedStruct(Struct):
    """The base of `Message`."""

    flexible: ClassVar[Versions]
