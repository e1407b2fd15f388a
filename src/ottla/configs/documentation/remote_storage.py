"""What the broker configs mean: tiered storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REMOTE_STORAGE_TEXTS: Final[Mapping[str, str]] = {
    "remote.fetch.max.wait.ms": (
        "Longest time that a fetch waits for records from remote storage, in milliseconds."
    ),
    "remote.list.offsets.request.timeout.ms": (
        "Longest time that ListOffsets waits for an offset from remote storage, in milliseconds."
    ),
    "remote.log.index.file.cache.total.size.bytes": (
        "Disk space for indexes of segments in remote storage, in bytes."
    ),
    "remote.log.index.file.cache.ttl.ms": (
        "How long an index of a segment in remote storage stays on the local disk without use, "
        "in milliseconds; -1 is no limit."
    ),
    "remote.log.manager.copier.thread.pool.size": (
        "Number of threads that copy segments to remote storage."
    ),
    "remote.log.manager.copy.max.bytes.per.second": (
        "Highest rate at which the broker copies segments to remote storage, in bytes per second."
    ),
    "remote.log.manager.copy.quota.window.num": (
        "Number of samples from which the rate of copying to remote storage is computed."
    ),
    "remote.log.manager.copy.quota.window.size.seconds": (
        "Length of each sample from which the rate of copying to remote storage is computed, in "
        "seconds."
    ),
    "remote.log.manager.expiration.thread.pool.size": (
        "Number of threads that delete expired segments from remote storage."
    ),
    "remote.log.manager.fetch.max.bytes.per.second": (
        "Highest rate at which the broker reads from remote storage, in bytes per second."
    ),
    "remote.log.manager.fetch.quota.window.num": (
        "Number of samples from which the rate of reading from remote storage is computed."
    ),
    "remote.log.manager.fetch.quota.window.size.seconds": (
        "Length of each sample from which the rate of reading from remote storage is computed, "
        "in seconds."
    ),
    "remote.log.manager.follower.thread.pool.size": (
        "Number of threads with which followers read the metadata of remote segments."
    ),
    "remote.log.manager.task.interval.ms": (
        "How often the broker looks for segments to copy to or delete from remote storage, in "
        "milliseconds."
    ),
    "remote.log.manager.task.retry.backoff.max.ms": (
        "Longest wait before a task of remote storage that failed runs again, in milliseconds."
    ),
    "remote.log.manager.task.retry.backoff.ms": (
        "First wait before a task of remote storage that failed runs again, in milliseconds."
    ),
    "remote.log.manager.task.retry.jitter": (
        "Random part of the wait before a task of remote storage runs again, from 0 to 0.5."
    ),
    "remote.log.manager.thread.pool.size": (
        "Number of threads for remote storage, where no other setting names a number."
    ),
    "remote.log.metadata.custom.metadata.max.bytes": (
        "Largest metadata that a storage manager may add to each remote segment, in bytes."
    ),
    "remote.log.metadata.manager.class.name": (
        "Java class that stores the metadata of remote segments (`RemoteLogMetadataManager`)."
    ),
    "remote.log.metadata.manager.class.path": (
        "Java class path of the class in remote.log.metadata.manager.class.name."
    ),
    "remote.log.metadata.manager.impl.prefix": (
        "Prefix of the settings that are passed to the class in "
        "remote.log.metadata.manager.class.name."
    ),
    "remote.log.metadata.manager.listener.name": (
        "Listener through which the class in remote.log.metadata.manager.class.name connects to "
        "brokers."
    ),
    "remote.log.reader.max.pending.tasks": (
        "Largest number of reads from remote storage that wait for a thread."
    ),
    "remote.log.reader.threads": "Number of threads that read from remote storage.",
    "remote.log.storage.manager.class.name": (
        "Java class that stores segments in remote storage (`RemoteStorageManager`)."
    ),
    "remote.log.storage.manager.class.path": (
        "Java class path of the class in remote.log.storage.manager.class.name."
    ),
    "remote.log.storage.manager.impl.prefix": (
        "Prefix of the settings that are passed to the class in "
        "remote.log.storage.manager.class.name."
    ),
    "remote.log.storage.system.enable": (
        "Whether the broker can store segments of topics in remote storage (tiered storage, "
        "KIP-405)."
    ),
}
