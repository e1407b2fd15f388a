"""The base class of requests, responses, headers and records of internal logs."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.schema.layout import Decoder, Encoder, VersionedStruct
from ottla.wire.schema.versions import Versions, versions


class Message(VersionedStruct):
    """A complete message. `api_key` is Kafka's number of the API or of the record type.

    Versions that are not `stable` may still change in Kafka: nodes serve them only if configured
    to.
    """

    api_key: ClassVar[int | None]
    versions: ClassVar[Versions]
    stable: ClassVar[Versions]
    _encoders: ClassVar[dict[int, Encoder]]
    _decoders: ClassVar[dict[int, Decoder]]

    def __init_subclass__(
        cls,
        *,
        versions: str,
        stable: str | None = None,
        flexible: str = "none",
        api_key: int | None = None,
    ) -> None:
        cls.api_key = api_key
        cls.versions = _versions(versions)
        cls.stable = _versions(stable or versions)
        cls.flexible = _versions(flexible)
        cls._encoders = {}
        cls._decoders = {}

    def encode(self, version: int) -> bytes:
        """The message's encoding in a version. Its records must be buffers."""
        parts: list[Buffer] = []
        self.encode_into(parts, version)
        return b"".join(parts)

    def encode_into(self, parts: list[Any], version: int) -> None:
        """Appends the message's encoding as parts; records are appended without copying."""
        encoder = self._encoders.get(version) or _compile_encoder(type(self), version)
        encoder(self, parts)

    @classmethod
    def decode(cls, buffer: Buffer, version: int) -> Self:
        """Decodes a message that fills the whole buffer."""
        message, end = cls.decode_from(buffer, version)
        if end != len(buffer):
            raise ProtocolError(
                f"{cls.__name__} version {version} ends at byte {end}, "
                f"but {len(buffer) - end} more bytes follow"
            )
        return message

    @classmethod
    def decode_from(cls, buffer: Buffer, version: int, position: int = 0) -> tuple[Self, int]:
        """The message at `position`, and the position after it. Records are views of `buffer`."""
        decoder = cls._decoders.get(version) or _compile_decoder(cls, version)
        return decoder(buffer, position)


def _compile_encoder(cls: type[Message], version: int) -> Encoder:
    from ottla.wire.schema.encoder import compile_encoder

    _require_version(cls, version)
    encoder = cls._encoders[version] = compile_encoder(cls, version)
    return encoder


def _compile_decoder(cls: type[Message], version: int) -> Decoder:
    from ottla.wire.schema.decoder import compile_decoder

    _require_version(cls, version)
    decoder = cls._decoders[version] = compile_decoder(cls, version)
    return decoder


def _require_version(cls: type[Message], version: int) -> None:
    if version not in cls.versions:
        raise ProtocolError(f"{cls.__name__} has no version {version}; it has {cls.versions}")


_versions = versions
