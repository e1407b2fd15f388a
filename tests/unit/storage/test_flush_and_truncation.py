"""A flush on its worker, and a log that is cut or loses segments meanwhile: neither takes the files
of the other away."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Self

import pytest

from ottla.runtime.bounded_disk import BoundedDisk
from ottla.runtime.disk import Disk, File
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.files import durable_file, rewriting
from ottla.storage.log.flush import Flush
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.segments.segment import Segment
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import assert_sound
from tests.support.storage.logs import NOW_MS, append, opened

CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=1, file_delete_delay_ms=0)
# Long enough to notice an operation that does not wait.
PAUSE_SECONDS = 0.1


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = opened(BoundedDisk(SystemDisk(), descriptors=100), CONFIG, clean=True, data=str(tmp_path))
    for epoch in range(8):
        append(log, batch_of(b"v" * 60), epoch=epoch)
    yield log
    log.close()


class Worker:
    """Runs a flush, which is to stop in the middle; it goes on a moment after that."""

    def __init__(self, flush: Flush) -> None:
        self.stopped = Event()
        self._goes_on = Event()
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(flush,))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.stopped.wait(10)
        Timer(PAUSE_SECONDS, self._goes_on.set).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(10)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        self.stopped.set()
        assert self._goes_on.wait(10)

    def _run(self, flush: Flush) -> None:
        try:
            flush.run()
        except BaseException as error:
            self._error = error


def flush_of(log: Log) -> Flush:
    flush = log.prepare_flush()
    assert flush is not None
    return flush


def stop_after_syncing(segment: Segment, worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log is synced, and its indexes are not yet."""

    def sync(file: File) -> None:
        sync_file(file)
        if file is its_log and not worker.stopped.is_set():
            worker.stop()

    sync_file, its_log = rewriting.sync_file, segment.log_file
    monkeypatch.setattr("ottla.storage.segments.segment.sync_file", sync)


@pytest.mark.parametrize(
    "cut",
    [
        lambda log: log.truncate_to(2, now_ms=NOW_MS),
        lambda log: log.truncate_fully(50, now_ms=NOW_MS),
    ],
    ids=["from the end", "whole"],
)
def test_a_segment_is_synced_to_its_end_before_it_is_cut_away(
    log: Log, monkeypatch: pytest.MonkeyPatch, cut: Callable[[Log], None]
) -> None:
    flush = flush_of(log)
    worker = Worker(flush)
    stop_after_syncing(flush.segments[-1], worker, monkeypatch)
    with worker:
        cut(log)
    log.complete_flush(flush)

    assert log.recovery_point <= log.log_end_offset
    log.flush()
    assert_sound(log)


def test_both_replace_the_same_file_one_after_the_other(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = flush_of(log)
    worker = Worker(flush)

    def finish(disk: Disk, path: str) -> None:
        if path.endswith("leader-epoch-checkpoint") and not worker.stopped.is_set():
            worker.stop()
        finish_replacing(disk, path)

    finish_replacing = durable_file.finish_replacing
    monkeypatch.setattr(durable_file, "finish_replacing", finish)
    with worker:
        log.truncate_fully(50, now_ms=NOW_MS)
    log.complete_flush(flush)

    append(log, batch_of(b"new"), epoch=9)
    log.flush()
    assert log.recovery_point == 51
    assert log.epochs.latest_epoch == 9
    assert_sound(log)


def test_a_removed_segment_is_closed_when_no_sync_uses_it(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.advance_high_watermark(log.log_end_offset)
    log.delete_records_before(7)
    flush = flush_of(log)
    worker = Worker(flush)
    stop_after_syncing(flush.segments[0], worker, monkeypatch)
    with worker:
        log.delete_expired_segments(now_ms=NOW_MS)
        assert len(log.retired) > 0
    log.complete_flush(flush)

    log.retired.purge(now_ms=NOW_MS)
    assert len(log.retired) == 0
    assert_sound(log)
