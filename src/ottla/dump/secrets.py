"""Hides secrets of the metadata log: values of password configs, and SCRAM credentials.

As in DescribeConfigs, a broker's config with an unknown name counts as a secret.
"""

from __future__ import annotations

from typing import Final

from ottla.configs.resource import ConfigResourceType
from ottla.configs.synonyms import broker_definition
from ottla.wire.errors import ProtocolError
from ottla.wire.records.record import Record
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata import METADATA_RECORDS
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord

HIDDEN: Final = "[hidden]"


def hide_secrets(record: Record) -> Record:
    """The record of the metadata log with `HIDDEN` in place of each secret."""
    if record.value is None:
        return record
    try:
        message, version = METADATA_RECORDS.decode(record.value)
    except ProtocolError:
        return record
    if not _hide(message):
        return record
    return record._replace(value=METADATA_RECORDS.encode(message, version))


def _hide(message: Message) -> bool:
    """Returns whether the message has a secret, which is then replaced."""
    if isinstance(message, ConfigRecord) and message.value is not None:
        if not _is_secret(message):
            return False
        message.value = HIDDEN
        return True
    if isinstance(message, UserScramCredentialRecord):
        message.salt = message.stored_key = message.server_key = HIDDEN.encode()
        return True
    return False


def _is_secret(config: ConfigRecord) -> bool:
    if config.resource_type != ConfigResourceType.BROKER:
        return False
    definition = broker_definition(config.name)
    return definition is None or definition.is_sensitive
