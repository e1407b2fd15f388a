"""Finalized feature levels (KIP-584), and the state of a migration from ZooKeeper (KIP-866)."""

from __future__ import annotations

from ottla.wire.schema import Int8, Int16, Message, String


class FeatureLevelRecord(Message, api_key=12, versions="0", flexible="0+"):
    name: String = ""
    feature_level: Int16 = 0


class ZkMigrationStateRecord(Message, api_key=21, versions="0", flexible="0+"):
    zk_migration_state: Int8 = 0
