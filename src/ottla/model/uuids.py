"""Kafka's UUIDs: sixteen raw bytes in memory, unpadded URL-safe base64 in text.

They are kept as `bytes`: creating a `uuid.UUID` costs ten times as much, and no code needs its
fields.
"""

from __future__ import annotations

import base64
import binascii
from typing import NewType

Uuid = NewType("Uuid", bytes)

ZERO_UUID = Uuid(bytes(16))


def uuid_to_text(uuid: Uuid) -> str:
    return base64.urlsafe_b64encode(uuid).rstrip(b"=").decode("ascii")


def uuid_from_text(text: str) -> Uuid:
    try:
        raw = base64.b64decode(text + "==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"not a Kafka UUID: {text!r} ({error})") from error
    if len(raw) != 16:
        raise ValueError(f"not a Kafka UUID: {text!r} holds {len(raw)} bytes instead of 16")
    return Uuid(raw)
