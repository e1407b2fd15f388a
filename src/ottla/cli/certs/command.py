"""`ottla certs`: certificates for development; commands, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ottla.cli.connection.client_command import Json, client_command

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Make certificates for development and tests, and show the certificates in files.",
    epilog="[bold]Exit codes[/]  0: done.  1: a shown certificate is not valid now.  2: wrong "
    "usage.",
)

Directory = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="DIR", help="The directory of the authority's files."),
]
Days = Annotated[int, typer.Option("--days", min=1, metavar="N", help="How long it is valid.")]
Rsa = Annotated[
    bool, typer.Option("--rsa", help="Make an RSA key instead of an ECDSA key (P-256).")
]
Pkcs12 = Annotated[
    bool, typer.Option("--pkcs12", help="Also write a PKCS#12 store, with a password.")
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="File with the password of the PKCS#12 store as its only line; - is standard input. "
        "Without it, the command asks for the password.",
        show_default=False,
    ),
]
FileName = Annotated[
    str | None,
    typer.Option(
        "--file-name",
        metavar="NAME",
        help="Name of the files, without .pem and .key. Default: the name of the certificate.",
        show_default=False,
    ),
]
DEFAULT_DIRECTORY = Path("certs")
AUTHORITY_DAYS = 3_650
CERTIFICATE_DAYS = 365


@app.command()
def ca(
    directory: Directory = DEFAULT_DIRECTORY,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The common name.")
    ] = "Ottla development CA",
    days: Days = AUTHORITY_DAYS,
    rsa: Rsa = False,
) -> None:
    """Make a certificate authority: ca.pem, which clients and nodes trust, and ca.key.

    [bold]Example[/]  ottla certs ca --out ./certs
    """
    with client_command() as terminal:
        from ottla.cli.certs.run import NewCertificate, make_ca

        make_ca(terminal, NewCertificate(name, directory, days, rsa))


@app.command()
def server(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", show_default=False)],
    directory: Directory = DEFAULT_DIRECTORY,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The common name. Default: the first host.",
            show_default=False,
        ),
    ] = None,
    file_name: FileName = None,
    days: Days = CERTIFICATE_DAYS,
    rsa: Rsa = False,
    pkcs12: Pkcs12 = False,
    password_file: PasswordFile = None,
) -> None:
    """Make the certificate of a node that is reached by these names and IP addresses.

    It is also good for the node's own connections to other nodes.

    [bold]Example[/]  ottla certs server kafka-1.example.com localhost 127.0.0.1 --out ./certs
    """
    with client_command() as terminal:
        from ottla.cli.certs.run import NewCertificate, make_signed

        new = NewCertificate(
            name or hosts[0], directory, days, rsa, pkcs12, password_file, file_name
        )
        make_signed(terminal, new, hosts)


@app.command()
def client(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    directory: Directory = DEFAULT_DIRECTORY,
    file_name: FileName = None,
    days: Days = CERTIFICATE_DAYS,
    rsa: Rsa = False,
    pkcs12: Pkcs12 = False,
    password_file: PasswordFile = None,
) -> None:
    """Make the certificate of a client, for listeners with ssl.client.auth.

    [bold]Example[/]  ottla certs client billing --out ./certs
    """
    with client_command() as terminal:
        from ottla.cli.certs.run import NewCertificate, make_signed

        new = NewCertificate(name, directory, days, rsa, pkcs12, password_file, file_name)
        make_signed(terminal, new, None)


@app.command()
def revoke(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE...]", show_default=False)
    ] = None,
    directory: Directory = DEFAULT_DIRECTORY,
    days: Annotated[
        int,
        typer.Option(
            "--days",
            min=1,
            metavar="N",
            help="How long the list is valid. After that, listeners that use it refuse everyone.",
        ),
    ] = CERTIFICATE_DAYS,
) -> None:
    """Add certificates to the authority's revocation list, ca.crl.pem.

    Listeners with ottla.ssl.crl.location refuse them. Without a FILE, make a list or renew it.

    [bold]Example[/]  ottla certs revoke ./certs/billing.pem --out ./certs
    """
    with client_command() as terminal:
        from ottla.cli.certs.run import revoke

        revoke(terminal, files or (), directory=directory, days=days)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    rules: Annotated[
        str,
        typer.Option(
            "--rules", metavar="RULES", help="The listener's ssl.principal.mapping.rules."
        ),
    ] = "DEFAULT",
    password_file: PasswordFile = None,
    as_json: Json = False,
) -> None:
    """Show the certificates of a PEM or PKCS#12 file: subject, names, expiry and principal."""
    with client_command() as terminal:
        from ottla.cli.certs.run import show_certificates

        raise typer.Exit(
            show_certificates(
                terminal, file, rules=rules, password_file=password_file, as_json=as_json
            )
        )
