"""Where a program listens, and what it takes to listen there."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple

from ottla.configs.quorum_addresses import ControllerAddress

_LOOPBACK: Final = "127.0.0.1"


class ListenError(Exception):
    """The program cannot listen there. The message says what to change."""


class ListenAddress(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> ListenAddress:
        """A port alone is one of the loopback address. Raises ListenError."""
        found = ControllerAddress.parse(f"{_LOOPBACK}:{text}" if text.isdigit() else text)
        if found is None or not found.host or "://" in text:
            raise ListenError(f"{text!r} is no address: write HOST:PORT, or a port of 127.0.0.1")
        return cls(*found)

    @property
    def is_loopback(self) -> bool:
        return is_loopback_host(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class HttpTls(NamedTuple):
    """PEM files. With `client_ca`, clients need certificates of that authority."""

    certificate: Path
    key: Path
    client_ca: Path | None = None


@lru_cache(maxsize=256)
def is_loopback_host(host: str) -> bool:
    """Names such as 127.0.0.1.example.com are not: they may lead anywhere."""
    name = host.lower().strip("[]")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def check_exposure(address: ListenAddress, tls: HttpTls | None, *, authenticates: bool) -> None:
    """Raises ListenError if anyone on the network could use the program."""
    has_client_certificates = tls is not None and tls.client_ca is not None
    if not (address.is_loopback or authenticates or has_client_certificates):
        raise ListenError(
            f"{address} can be reached by other machines: add --authentication cluster, or "
            "--tls-client-ca with the authority of your clients, or listen on 127.0.0.1"
        )


def exposure_warning(
    address: ListenAddress, tls: HttpTls | None, *, authenticates: bool
) -> str | None:
    if address.is_loopback or tls is not None or not authenticates:
        return None
    return (
        f"passwords are sent to {address} in plaintext: add --tls-certificate and --tls-key, or "
        "put a proxy with TLS in front"
    )
