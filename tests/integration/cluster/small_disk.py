"""A file system of a few megabytes, which can be full without harm to the host's."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

_CHUNK_BYTES = 64 * 1024
_MOUNT = 'mount -t tmpfs -o size="$1" tmpfs "$2" && echo mounted && exec sleep infinity'


class SmallDisk:
    """There during its `with`, and only for processes that are run by `command_prefix`: it is
    mounted in a namespace of its own, which a process that does nothing keeps alive."""

    def __init__(self, mount_point: Path, *, size_bytes: int) -> None:
        self.mount_point = mount_point
        self._size_bytes = size_bytes

    def __enter__(self) -> Self:
        self.mount_point.mkdir(parents=True)
        self._holder = subprocess.Popen(
            [
                *("unshare", "--map-root-user", "--mount"),
                *("sh", "-c", _MOUNT, "sh", str(self._size_bytes), str(self.mount_point)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stderr is not None
        if self._holder.stdout.readline() != "mounted\n":
            reason = self._holder.stderr.read()
            self._end()
            pytest.skip(f"this host does not permit mounts in a namespace: {reason}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    @property
    def command_prefix(self) -> tuple[str, ...]:
        target = ("--target", str(self._holder.pid))
        return ("nsenter", *target, "--user", "--mount", "--preserve-credentials")

    @property
    def seen_from_outside(self) -> Path:
        return Path(f"/proc/{self._holder.pid}/root{self.mount_point}")

    def fill(self) -> None:
        """Leaves no room for anything."""
        filled = False
        with self._filler.open("wb", buffering=0) as file:
            while not filled:
                # What does not fit as a whole is written as far as it does.
                try:
                    file.write(bytes(_CHUNK_BYTES))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    filled = True

    def free(self) -> None:
        self._filler.unlink()

    @property
    def _filler(self) -> Path:
        return self.seen_from_outside / "filler"

    def _end(self) -> None:
        self._holder.kill()
        self._holder.wait()
        for pipe in (self._holder.stdout, self._holder.stderr):
            assert pipe is not None
            pipe.close()
