"""A network of their own for processes: only the loopback interface, with every port free."""

from __future__ import annotations

import fcntl
import functools
import shutil
import socket  # noqa: TID251 - tests stand outside of the nodes
import struct
import subprocess

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_REQUEST = "16sh22x"


@functools.cache
def prefix() -> tuple[str, ...] | None:
    """What runs a command in a network of its own, or None where that is not permitted."""
    if shutil.which("unshare") is None:
        return None
    for options in (("--net",), ("--map-root-user", "--net")):
        command = ("unshare", *options, "--")
        if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    return None


def bring_up() -> None:
    """Within such a network the loopback interface is down at first."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack(_REQUEST, b"lo", 0)
        _, flags = struct.unpack(_REQUEST, fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))
        if not flags & _IFF_UP:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack(_REQUEST, b"lo", flags | _IFF_UP))
