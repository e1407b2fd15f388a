"""Runs `ottla certs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Final

from ottla.cli.arguments.input_file import unreadable
from ottla.cli.certs.files import (
    AUTHORITY,
    CertificateFiles,
    read_authority,
    read_revocation_list,
    replace_revocation_list,
    require_absent,
    write_pair,
)
from ottla.cli.display.cells import NOTHING, count
from ottla.cli.display.passwords import read_password_file
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.system_clock import SystemClock

_PACKAGE: Final = "cryptography"


@dataclass(frozen=True, slots=True)
class NewCertificate:
    """The options of `ca`, `server` and `client`."""

    name: str
    directory: Path
    days: int
    is_rsa: bool
    pkcs12: bool = False
    password_file: Path | None = None
    file_name: str | None = None


def make_ca(terminal: Terminal, new: NewCertificate) -> None:
    require_package()
    from ottla.cli.certs.authority import Validity, make_authority

    require_absent(CertificateFiles.of(new.directory, AUTHORITY)[:2])
    validity = Validity(now(), new.days)
    try:
        pair = make_authority(new.name, validity, is_rsa=new.is_rsa)
    except ValueError as error:
        raise _impossible(error) from None
    _report(terminal, write_pair(new.directory, AUTHORITY, pair))


def make_signed(terminal: Terminal, new: NewCertificate, hosts: Sequence[str] | None) -> None:
    """A server's certificate for these hosts, or with None a client's."""
    require_package()
    from ottla.cli.certs.authority import Validity, make_client, make_server

    name = new.file_name or new.name
    if name == AUTHORITY or "/" in name:
        raise _usage(f"{name!r} cannot be a file name.", "Choose one with --file-name.")
    authority = read_authority(new.directory)
    require_absent(CertificateFiles.of(new.directory, name)[: 4 if new.pkcs12 else 3])
    password = _pkcs12_password(new)
    validity = Validity(now(), new.days)
    try:
        if hosts is None:
            pair = make_client(authority, new.name, validity, is_rsa=new.is_rsa)
        else:
            pair = make_server(authority, new.name, hosts, validity, is_rsa=new.is_rsa)
    except ValueError as error:
        raise _impossible(error) from None
    _report(terminal, write_pair(new.directory, name, pair, pkcs12_password=password))


def revoke(terminal: Terminal, files: Sequence[Path], *, directory: Path, days: int) -> None:
    """Adds certificates to the revocation list of the authority in the directory."""
    require_package()
    from ottla.cli.certs.authority import Validity
    from ottla.cli.certs.revocation import make_revocation_list

    authority = read_authority(directory)
    remedy = "give the file of a certificate"
    try:
        certificates = [file.read_bytes() for file in files]
    except OSError as error:
        raise unreadable(error.filename, error, remedy=remedy) from None
    try:
        content = make_revocation_list(
            authority,
            certificates,
            Validity(now(), days),
            previous=read_revocation_list(directory),
        )
    except ValueError as error:
        raise _usage(f"Cannot revoke: {error}.") from None
    _report(terminal, [replace_revocation_list(directory, content)])


def show_certificates(
    terminal: Terminal, file: Path, *, rules: str, password_file: Path | None, as_json: bool
) -> ExitCode:
    """The exit code is 1 if a certificate is not valid now."""
    require_package()
    from ottla.cli.certs.description import describe

    password = None if password_file is None else read_password_file(password_file).value
    found, at = describe(file, rules, password), now()
    for number, each in enumerate(found):
        if as_json:
            terminal.print_json(each.to_json(at))
            continue
        if number:
            terminal.stdout.print()
        table = new_table("what", "value")
        table.add_row("subject", each.subject)
        table.add_row("issuer", each.issuer)
        table.add_row("names", ", ".join(each.names) or NOTHING)
        table.add_row("key", each.key)
        table.add_row("authority", "yes" if each.is_authority else "no")
        table.add_row("valid from", f"{each.begins:%Y-%m-%d %H:%M:%S}")
        table.add_row("expires", f"{each.expires:%Y-%m-%d %H:%M:%S}{_validity(each.expires, at)}")
        table.add_row("principal", each.principal or "none: no mapping rule matches")
        terminal.stdout.print(table)
    is_well = all(each.begins <= at <= each.expires for each in found)
    return ExitCode.OK if is_well else ExitCode.REFUSED


def require_package() -> None:
    """Raises CommandError without the package cryptography."""
    from importlib.util import find_spec

    if find_spec(_PACKAGE) is None:
        raise _usage(
            f"Certificates are made with the package {_PACKAGE}, which is not installed.",
            "Install it with: pip install 'ottla[security]'",
        )


def now() -> datetime:
    return datetime.fromtimestamp(SystemClock().now_ms() // 1_000, UTC)


def _pkcs12_password(new: NewCertificate) -> str | None:
    if not new.pkcs12:
        if new.password_file is not None:
            raise _usage("--password-file needs --pkcs12.")
        return None
    if new.password_file is not None:
        return read_password_file(new.password_file).value
    from ottla.cli.display.passwords import ask_new_password

    return ask_new_password("Password of the PKCS#12 store").value


def _validity(expires: datetime, at: datetime) -> str:
    if expires < at:
        return ", has expired"
    return f", in {count(ceil((expires - at) / timedelta(days=1)), 'day')}"


def _report(terminal: Terminal, paths: Sequence[Path]) -> None:
    for path in paths:
        terminal.stdout.print(f"wrote {path}", markup=False, soft_wrap=True)


def _impossible(error: ValueError) -> CommandError:
    return _usage(f"Cannot make this certificate: {error}.")


def _usage(message: str, *hints: str) -> CommandError:
    return CommandError(message, *hints, exit_code=ExitCode.USAGE)
