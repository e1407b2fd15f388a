"""The files of certificates: PEM and PKCS#12, private keys readable by their owner only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.client_security.private_file import PRIVATE, create_file
from ottla.cli.exit_codes import CommandError, ExitCode

if TYPE_CHECKING:
    from ottla.cli.certs.authority import KeyPair

_PUBLIC: Final = 0o644
AUTHORITY: Final = "ca"
REVOCATION_LIST: Final = "ca.crl.pem"


class CertificateFiles(NamedTuple):
    """The paths of one certificate's files. `pkcs12` is written only with a password."""

    certificate: Path
    key: Path
    keystore: Path
    pkcs12: Path

    @classmethod
    def of(cls, directory: Path, name: str) -> CertificateFiles:
        return cls(
            *(directory / f"{name}{suffix}" for suffix in (".pem", ".key", ".keystore.pem", ".p12"))
        )


def write_pair(
    directory: Path, name: str, pair: KeyPair, *, pkcs12_password: str | None = None
) -> list[Path]:
    """Writes the certificate (NAME.pem), its key (NAME.key), both of them (NAME.keystore.pem) and
    with a password NAME.p12, which has both, too. Of an authority only the first two. Returns the
    paths. Raises CommandError, also if one of them exists."""
    paths = CertificateFiles.of(directory, name)
    files = [
        (paths.certificate, pair.certificate_pem.encode(), _PUBLIC),
        (paths.key, pair.key_pem.encode(), PRIVATE),
    ]
    if pair.issuer is not None:
        files.append((paths.keystore, pair.keystore_pem.encode(), PRIVATE))
    if pkcs12_password is not None:
        files.append((paths.pkcs12, pair.pkcs12(name, pkcs12_password), PRIVATE))
    require_absent([path for path, _, _ in files])
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, content, mode in files:
            create_file(path, content, mode=mode)
    except OSError as error:
        raise CommandError(
            f"Cannot write {error.filename}: {error.strerror}.", exit_code=ExitCode.USAGE
        ) from None
    return [path for path, _, _ in files]


def read_revocation_list(directory: Path) -> bytes | None:
    """None if the authority has none yet. Raises CommandError."""
    path = directory / REVOCATION_LIST
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        remedy = "give --out the directory of an authority"
        raise unreadable(str(path), error, remedy=remedy) from None


def replace_revocation_list(directory: Path, content: bytes) -> Path:
    """At once, because nodes may be reading it. Raises CommandError."""
    path = directory / REVOCATION_LIST
    partial = path.with_suffix(".partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        raise CommandError(
            f"Cannot write {path}: {error.strerror}.", exit_code=ExitCode.USAGE
        ) from None
    return path


def require_absent(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.exists():
            raise CommandError(
                f"{path} exists already.",
                "Remove it, or choose another directory (--out) or name.",
                exit_code=ExitCode.USAGE,
            )


def read_authority(directory: Path) -> KeyPair:
    """Raises CommandError."""
    from ottla.cli.certs.authority import load_pair

    certificate, key, *_ = CertificateFiles.of(directory, AUTHORITY)
    try:
        return load_pair(certificate.read_bytes(), key.read_bytes())
    except FileNotFoundError as error:
        raise CommandError(
            f"There is no authority in {directory}: {error.filename} does not exist.",
            f"Make one with: ottla certs ca --out {directory}",
            exit_code=ExitCode.USAGE,
        ) from None
    except OSError as error:
        remedy = "give --out the directory of an authority"
        raise unreadable(error.filename, error, remedy=remedy) from None
    except (ValueError, TypeError) as error:
        raise CommandError(
            f"{certificate} and {key} are not the files of an authority: {error}.",
            exit_code=ExitCode.USAGE,
        ) from None
