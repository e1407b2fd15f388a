"""Releases that may still be undone."""

from __future__ import annotations

from ottla.storage.delays.unsettled_releases import RELEASES_MAX, UnsettledReleases


def test_what_was_released_is_needed_until_the_release_is_settled() -> None:
    releases = UnsettledReleases()
    releases.add(11, 3)
    releases.add(12, 1)

    assert releases.oldest() == 1
    releases.settle(11)
    assert releases.oldest() == 1
    assert releases.end_below(12) == 12
    releases.settle(12)
    assert releases.oldest() is None


def test_only_so_many_are_remembered_and_nothing_is_forgotten() -> None:
    releases = UnsettledReleases()
    for each in range(2 * RELEASES_MAX):
        releases.add(10_000 + each, 5_000 - each)

    assert len(releases) == RELEASES_MAX
    assert releases.oldest() == 5_000 - 2 * RELEASES_MAX + 1
    releases.settle(10_000 + 2 * RELEASES_MAX - 2)
    assert len(releases) == 1
