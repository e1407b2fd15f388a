"""Clients that share a rate share a meter, and meters do not outlive their quotas."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ottla.quotas import meters as meters_module
from ottla.quotas.client_limits import Metered
from ottla.quotas.entities import QuotaEntity, QuotaKey
from ottla.quotas.meters import BucketMeter, Meters, RateMeter
from ottla.quotas.sampled_rate import Windows

ALICE: QuotaEntity = (("user", "alice"),)
ANY_CLIENT: QuotaEntity = (("client-id", None),)
RATE = "producer_byte_rate"
HOUR_MS = 3_600_000


def meters_of(on_changed: Callable[[], None] = lambda: None, **quotas: float) -> Meters[RateMeter]:
    windows = Windows(count=11, size_seconds=1)
    made = Meters(QuotaKey.PRODUCE, lambda: RateMeter(windows), on_changed)
    entities = {"alice": ALICE, "any_client": ANY_CLIENT}
    made.follow({entities[name]: {RATE: rate} for name, rate in quotas.items()})
    return made


def test_the_clients_of_a_user_share_its_rate() -> None:
    meters = meters_of(alice=10)
    assert meters.find("alice", "one", 0) is meters.find("alice", "two", 0)
    assert meters.find("bob", "one", 0) is None


def test_each_client_id_has_its_own_default() -> None:
    meters = meters_of(any_client=10)
    assert meters.find("alice", "one", 0) is meters.find("bob", "one", 0)
    assert meters.find("alice", "one", 0) is not meters.find("alice", "two", 0)


def test_a_changed_quota_keeps_the_history() -> None:
    changes: list[bool] = []
    meters = meters_of(lambda: changes.append(True), alice=10)
    meter = meters.find("alice", "app", 0)
    assert meter is not None
    assert meter.record(100, 0) == 0
    changes.clear()
    meters.follow({ALICE: {RATE: 5.0}})
    assert changes
    assert meters.find("alice", "app", 0) is meter
    assert meter.record(0, 0) == 10_000


def test_a_meter_is_forgotten_with_its_quota() -> None:
    meters = meters_of(alice=10, any_client=20)
    assert meters.find("alice", "app", 0) is not None
    assert [metered for metered, _ in meters.items()] == [Metered("alice", "")]
    meters.follow({ANY_CLIENT: {RATE: 20.0}})
    assert list(meters.items()) == []


def test_client_ids_that_a_client_invents_take_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meters_module, "_METERS_MAX", 10)
    meters = meters_of(any_client=10)
    for number in range(100):
        meters.find("alice", f"client {number}", number)
        assert len(list(meters.items())) <= 10
    assert Metered("", "client 99") in dict(meters.items())


def test_meters_without_use_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meters_module, "_METERS_MAX", 3)
    meters = meters_of(any_client=10)
    for name, now_ms in (("old", 0), ("new", HOUR_MS - 1), ("newer", HOUR_MS)):
        meters.find("alice", name, now_ms)
    meters.find("alice", "newest", HOUR_MS)
    assert {metered.client_id for metered, _ in meters.items()} == {"new", "newer", "newest"}


def test_a_throttle_time_fits_into_a_response() -> None:
    for limit in (1.0, 5e-324):
        meter = meters_of(alice=limit).find("alice", "app", 0)
        assert meter is not None
        assert meter.record(5_000_000, 0) == 2**31 - 1
    bucket = BucketMeter(Windows(count=11, size_seconds=1))
    bucket.limit = 0.001
    bucket.record(100_000, 0)
    assert bucket.throttle_ms(0) == 2**31 - 1
