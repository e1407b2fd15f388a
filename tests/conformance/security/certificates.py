"""What `ottla certs` writes: an authority, and stores that it signs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ottla.cli.certs.authority import Validity, make_authority, make_client, make_server
from ottla.cli.certs.files import AUTHORITY, CertificateFiles, write_pair
from ottla.cli.certs.run import now

STORE_PASSWORD: Final = "the store's password"
_DAYS: Final = 2


class Certificates:
    """Files in one directory: `ca.pem` to trust, and `NAME.keystore.pem` and others for each
    name."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._validity = Validity(now(), _DAYS)
        self._authority = make_authority(f"CA {directory.name}", self._validity)
        write_pair(directory, AUTHORITY, self._authority)
        self.truststore = CertificateFiles.of(directory, AUTHORITY).certificate

    def of_node(self, name: str, *hosts: str) -> CertificateFiles:
        """For this host unless there are others."""
        pair = make_server(
            self._authority, name, hosts or ("localhost", "127.0.0.1"), self._validity
        )
        write_pair(self._directory, name, pair, pkcs12_password=STORE_PASSWORD)
        return CertificateFiles.of(self._directory, name)

    def of_client(self, name: str) -> CertificateFiles:
        pair = make_client(self._authority, name, self._validity)
        write_pair(self._directory, name, pair, pkcs12_password=STORE_PASSWORD)
        return CertificateFiles.of(self._directory, name)
