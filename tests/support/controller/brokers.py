"""Brokers as metadata registers them, in few words."""

from __future__ import annotations

from ottla.metadata import BrokerRegistration
from ottla.model import ZERO_UUID


def broker(
    node_id: int, *, epoch: int = 0, fenced: bool = False, shutting_down: bool = False
) -> BrokerRegistration:
    return BrokerRegistration(
        id=node_id,
        epoch=epoch,
        incarnation_id=ZERO_UUID,
        endpoints=(),
        features={},
        rack=None,
        fenced=fenced,
        in_controlled_shutdown=shutting_down,
        is_migrating_zk_broker=False,
        log_dirs=(),
        cordoned_log_dirs=None,
    )
