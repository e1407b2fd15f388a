"""Records of `__cluster_metadata`, of which the state of a cluster is made (KIP-631)."""

from ottla.wire.stored.cluster_metadata.records import (
    METADATA_RECORDS,
    decode_metadata_record,
    encode_metadata_record,
)

__all__ = ["METADATA_RECORDS", "decode_metadata_record", "encode_metadata_record"]
