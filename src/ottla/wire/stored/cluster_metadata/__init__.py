"""The record types of `__cluster_metadata`, which define the state of a cluster (KIP-631)."""

from ottla.wire.stored.cluster_metadata.records import (
    METADATA_RECORDS,
    decode_metadata_record,
    encode_metadata_record,
)

__all__ = ["METADATA_RECORDS", "decode_metadata_record", "encode_metadata_record"]
