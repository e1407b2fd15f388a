"""When a pipeline is started, stopped and started again."""

from __future__ import annotations

from ottla.web.supervisor.model.lifecycle import (
    BACKOFF_S_MAX,
    FAILURES_MAX,
    HEALTHY_S,
    STOP_S,
    Exit,
    KillChild,
    Lifecycle,
    PipelineState,
    PipelineTarget,
    StartChild,
    StopChild,
)

FAILED = Exit(is_failure=True, reason="no driver")


def running() -> Lifecycle:
    lifecycle = Lifecycle(PipelineTarget.RUNNING, epoch=0)
    assert lifecycle.next(0) == StartChild(1)
    return lifecycle


def test_a_new_pipeline_is_started_once() -> None:
    lifecycle = running()
    assert lifecycle.next(1) is None
    assert lifecycle.state is PipelineState.RUNNING
    assert lifecycle.wake_at is None


def test_the_epoch_goes_on_from_the_last_run() -> None:
    assert Lifecycle(PipelineTarget.RUNNING, epoch=7).next(0) == StartChild(8)


def test_a_run_that_was_not_seen_to_end_is_waited_for() -> None:
    lifecycle = Lifecycle(PipelineTarget.RUNNING, epoch=7, not_before=18)
    assert lifecycle.next(17.9) is None
    assert (lifecycle.state, lifecycle.wake_at) == (PipelineState.RESTARTING, 18)
    lifecycle.restart(1)
    assert lifecycle.next(17.9) is None
    assert lifecycle.next(18) == StartChild(8)


def test_a_failure_is_followed_by_longer_and_longer_pauses() -> None:
    lifecycle, now, pauses = running(), 0.0, []
    while lifecycle.state is not PipelineState.FAILED:
        lifecycle.child_ended(FAILED, now)
        if lifecycle.wake_at is not None:
            pauses.append(lifecycle.wake_at - now)
            now = lifecycle.wake_at
            assert lifecycle.next(now - 0.1) is None
            assert isinstance(lifecycle.next(now), StartChild)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert pauses[-1] == BACKOFF_S_MAX
    assert lifecycle.failures == FAILURES_MAX
    assert lifecycle.reason == "no driver"
    assert lifecycle.next(now + 1_000) is None


def test_a_failure_after_a_healthy_run_begins_a_new_series() -> None:
    lifecycle = running()
    for now in (0.0, 1.0, 3.0):
        lifecycle.child_ended(FAILED, now)
        lifecycle.next(now + 4)
    lifecycle.child_ended(FAILED, 7 + HEALTHY_S)
    assert lifecycle.failures == 1


def test_a_hopeless_failure_is_final_until_a_restart() -> None:
    lifecycle = running()
    lifecycle.child_ended(Exit(is_failure=True, reason="no file", is_hopeless=True), 0)
    assert lifecycle.state is PipelineState.FAILED
    lifecycle.restart(5)
    assert lifecycle.next(5) == StartChild(2)


def test_a_paused_pipeline_is_stopped_and_in_the_end_killed() -> None:
    lifecycle = running()
    lifecycle.aim(PipelineTarget.PAUSED)
    assert lifecycle.next(10) == StopChild(1)
    assert lifecycle.next(11) is None
    assert lifecycle.wake_at == 10 + STOP_S
    assert lifecycle.next(10 + STOP_S) == KillChild(1)
    assert lifecycle.next(11 + STOP_S) is None
    lifecycle.child_ended(FAILED, 60)
    assert (lifecycle.state, lifecycle.failures) == (PipelineState.PAUSED, 0)
    assert lifecycle.next(1_000) is None


def test_resuming_while_the_child_still_stops_waits_for_its_end() -> None:
    lifecycle = running()
    lifecycle.aim(PipelineTarget.PAUSED)
    lifecycle.next(10)
    lifecycle.aim(PipelineTarget.RUNNING)
    assert lifecycle.next(11) is None
    assert lifecycle.state is PipelineState.RESTARTING
    lifecycle.child_ended(Exit(is_failure=False, reason=""), 12)
    assert lifecycle.next(12) == StartChild(2)


def test_a_restart_replaces_the_child() -> None:
    lifecycle = running()
    lifecycle.restart(5)
    assert lifecycle.next(5) == StopChild(1)
    lifecycle.child_ended(Exit(is_failure=False, reason=""), 6)
    assert lifecycle.next(6) == StartChild(2)
    assert lifecycle.state is PipelineState.RUNNING


def test_a_restart_ends_the_pause_after_a_failure() -> None:
    lifecycle = running()
    lifecycle.child_ended(FAILED, 10)
    lifecycle.restart(10)
    assert lifecycle.next(10) == StartChild(2)
