"""The types of fields.

Declarations use them as annotations (`acks: Int16`), which type checkers treat as plain `int`,
`str` or `bytes`, and which the compilers resolve to the descriptions below.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from ottla.model import Buffer
from ottla.model import Uuid as RawUuid

if TYPE_CHECKING:
    from ottla.wire.schema.struct import Struct

TEXT_BYTES_MAX = 32767


class Names(Enum):
    """What a field names. Tenants have names of their own, which a node translates."""

    # Nothing that belongs to a tenant.
    NOTHING = "nothing"
    TOPIC = "topic"
    TOPIC_ID = "topic_id"
    # A regular expression that topics match.
    TOPIC_PATTERN = "topic_pattern"
    GROUP = "group"
    TRANSACTIONAL_ID = "transactional_id"
    TRANSACTIONAL_ID_PATTERN = "transactional_id_pattern"
    USER = "user"
    # Such as `User:alice`.
    PRINCIPAL = "principal"
    # By the fields `resource_type`, `resource_type_filter`, `key_type` and `entity_type`.
    CONFIG_RESOURCE = "config_resource"
    ACL_RESOURCE = "acl_resource"
    COORDINATOR_KEY = "coordinator_key"
    QUOTA_ENTITY = "quota_entity"
    # A text for people that may contain names.
    MESSAGE = "message"
    # Bytes of the consumer protocol, or of another one.
    SUBSCRIPTION = "subscription"
    ASSIGNMENT = "assignment"


class Fixed(NamedTuple):
    """A value of constant size, with its `struct` code. Runs of these are packed in one call."""

    name: str
    code: str
    size: int
    names: Names = Names.NOTHING


class TextType(NamedTuple):
    """Length-prefixed UTF-8, at most TEXT_BYTES_MAX bytes in either length encoding. Fields of
    requests and responses say what they name."""

    names: Names | None = None


class Blob(NamedTuple):
    """Length-prefixed bytes. Decoding copies them, except `records`, which stay a view."""

    records: bool
    names: Names = Names.NOTHING


class Array(NamedTuple):
    element: FieldType


class Nested(NamedTuple):
    struct: type[Struct]


FieldType: TypeAlias = Fixed | TextType | Blob | Array | Nested

Bool = Annotated[bool, Fixed("BOOLEAN", "?", 1)]
Int8 = Annotated[int, Fixed("INT8", "b", 1)]
Int16 = Annotated[int, Fixed("INT16", "h", 2)]
Int32 = Annotated[int, Fixed("INT32", "i", 4)]
Int64 = Annotated[int, Fixed("INT64", "q", 8)]
Uint16 = Annotated[int, Fixed("UINT16", "H", 2)]
Uint32 = Annotated[int, Fixed("UINT32", "I", 4)]
Float64 = Annotated[float, Fixed("FLOAT64", "d", 8)]
Uuid = Annotated[RawUuid, Fixed("UUID", "16s", 16)]
TopicId = Annotated[RawUuid, Fixed("UUID", "16s", 16, Names.TOPIC_ID)]
# Only in messages that are stored in files.
String = Annotated[str, TextType()]
Text = Annotated[str, TextType(Names.NOTHING)]
TopicName = Annotated[str, TextType(Names.TOPIC)]
TopicPattern = Annotated[str, TextType(Names.TOPIC_PATTERN)]
GroupId = Annotated[str, TextType(Names.GROUP)]
TransactionalId = Annotated[str, TextType(Names.TRANSACTIONAL_ID)]
TransactionalIdPattern = Annotated[str, TextType(Names.TRANSACTIONAL_ID_PATTERN)]
UserText = Annotated[str, TextType(Names.USER)]
PrincipalText = Annotated[str, TextType(Names.PRINCIPAL)]
ConfigResourceName = Annotated[str, TextType(Names.CONFIG_RESOURCE)]
AclResourceName = Annotated[str, TextType(Names.ACL_RESOURCE)]
CoordinatorKey = Annotated[str, TextType(Names.COORDINATOR_KEY)]
QuotaEntityName = Annotated[str, TextType(Names.QUOTA_ENTITY)]
MessageText = Annotated[str, TextType(Names.MESSAGE)]
Bytes = Annotated[bytes, Blob(records=False)]
Subscription = Annotated[bytes, Blob(records=False, names=Names.SUBSCRIPTION)]
Assignment = Annotated[bytes, Blob(records=False, names=Names.ASSIGNMENT)]
# When encoding, this may be any sized object that the transport can send: a buffer or a file slice.
Records = Annotated[Buffer, Blob(records=True)]
