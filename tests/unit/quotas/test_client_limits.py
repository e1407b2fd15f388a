"""Of several quotas that match a client, the most specific one counts, as in Kafka."""

from __future__ import annotations

import pytest

from ottla.quotas.client_limits import ClientLimit, ClientLimits, Metered
from ottla.quotas.entities import QuotaEntity, QuotaKey

# In the order of Kafka's documentation, with the clients that share each rate.
PRECEDENCE: list[tuple[QuotaEntity, Metered]] = [
    ((("client-id", "app"), ("user", "alice")), Metered("alice", "app")),
    ((("client-id", None), ("user", "alice")), Metered("alice", "app")),
    ((("user", "alice"),), Metered("alice", "")),
    ((("client-id", "app"), ("user", None)), Metered("alice", "app")),
    ((("client-id", None), ("user", None)), Metered("alice", "app")),
    ((("user", None),), Metered("alice", "")),
    ((("client-id", "app"),), Metered("", "app")),
    ((("client-id", None),), Metered("", "app")),
]


@pytest.mark.parametrize("first", range(len(PRECEDENCE)))
def test_the_most_specific_quota_counts(first: int) -> None:
    quotas = {
        entity: {"producer_byte_rate": float(rank)}
        for rank, (entity, _) in enumerate(PRECEDENCE)
        if rank >= first
    }
    limits = ClientLimits(QuotaKey.PRODUCE, quotas)
    assert limits.find("alice", "app") == ClientLimit(PRECEDENCE[first][1], first)


def test_quotas_of_others_and_for_other_keys_do_not_count() -> None:
    quotas: dict[QuotaEntity, dict[str, float]] = {
        (("user", "bob"),): {"producer_byte_rate": 1.0},
        (("client-id", "other"),): {"producer_byte_rate": 1.0},
        (("user", "alice"),): {"consumer_byte_rate": 1.0},
        (("ip", "192.0.2.1"),): {"connection_creation_rate": 1.0},
    }
    limits = ClientLimits(QuotaKey.PRODUCE, quotas)
    assert limits
    assert limits.find("alice", "app") is None
    assert not ClientLimits(QuotaKey.REQUEST, quotas)


def test_a_client_without_a_client_id_has_only_quotas_of_users() -> None:
    quotas = {entity: {"producer_byte_rate": 7.0} for entity, _ in PRECEDENCE}
    del quotas[(("user", "alice"),)]
    limits = ClientLimits(QuotaKey.PRODUCE, quotas)
    assert limits.find("alice", "") == ClientLimit(Metered("alice", ""), 7.0)
    by_id: dict[QuotaEntity, dict[str, float]] = {
        (("client-id", None),): {"producer_byte_rate": 7.0}
    }
    assert ClientLimits(QuotaKey.PRODUCE, by_id).find("alice", "") is None
