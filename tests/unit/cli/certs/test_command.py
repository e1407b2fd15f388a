"""`ottla certs` as its users meet it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app

pytest.importorskip("cryptography")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def certs(*arguments: str, exit_code: int = 0, typed: str = "") -> Result:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        make_app("certs"), ["certs", *arguments], catch_exceptions=False, input=typed
    )
    assert result.exit_code == exit_code, result.output
    return result


def shown(*arguments: str, exit_code: int = 0) -> list[dict[str, object]]:
    output = certs("show", *arguments, "--json", exit_code=exit_code).stdout
    return [json.loads(line) for line in output.splitlines()]


def test_an_authority_signs_certificates(directory: Path) -> None:
    assert "wrote certs/ca.key" in certs("ca").stdout
    certs("server", "kafka-1.example.com", "localhost", "127.0.0.1", "::1")
    certs("client", "billing", "--days", "3")
    (authority,) = shown("certs/ca.pem")
    assert authority["is_authority"]
    assert authority["key"] == "ECDSA secp256r1"
    server, issuer = shown("certs/kafka-1.example.com.pem")
    assert server["subject"] == "CN=kafka-1.example.com"
    assert server["names"] == [
        "DNS:kafka-1.example.com",
        "DNS:localhost",
        "IP:127.0.0.1",
        "IP:::1",
    ]
    assert issuer == authority
    (client, _) = shown("certs/billing.keystore.pem", "--rules", "RULE:^CN=(.*)$/$1/U, DEFAULT")
    assert client["principal"] == "User:BILLING"
    assert "in 3 days" in certs("show", "certs/billing.pem").stdout
    checked = subprocess.run(
        [
            *("openssl", "verify", "-CAfile", "certs/ca.pem", "-purpose", "sslserver"),
            *("-x509_strict", "certs/kafka-1.example.com.pem"),
        ],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr


def test_private_keys_are_their_owners(directory: Path) -> None:
    certs("ca")
    (directory / "password").write_text("store password\n")
    certs("client", "billing", "--pkcs12", "--password-file", "password")
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in (directory / "certs").iterdir()
    }
    assert modes == {
        "ca.pem": 0o644,
        "ca.key": 0o600,
        "billing.pem": 0o644,
        "billing.key": 0o600,
        "billing.keystore.pem": 0o600,
        "billing.p12": 0o600,
    }


def test_pkcs12_stores_have_a_password(directory: Path) -> None:
    certs("ca", "--rsa")
    certs("server", "localhost", "--pkcs12", "--password-file", "-", typed="a pass word\n")
    (directory / "password").write_text("a pass word\n")
    server, issuer = shown("certs/localhost.p12", "--password-file", "password")
    assert (server["key"], issuer["key"]) == ("ECDSA secp256r1", "RSA 3072")
    (directory / "password").write_text("another\n")
    refused = certs("show", "certs/localhost.p12", "--password-file", "password", exit_code=2)
    assert "no certificates that can be read" in refused.stderr
    assert "another" not in refused.stderr


def test_an_expired_certificate_is_no_success(directory: Path) -> None:
    from datetime import UTC, datetime

    from ottla.cli.certs.authority import Validity, make_authority
    from ottla.cli.certs.files import write_pair

    write_pair(
        directory, "old", make_authority("old", Validity(datetime(2020, 1, 1, tzinfo=UTC), 1))
    )
    (old,) = shown("old.pem", exit_code=1)
    assert not old["is_valid"]
    assert "has expired" in certs("show", "old.pem", exit_code=1).stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("server", "localhost"), "There is no authority in certs"),
        (("show", "none.pem"), "none.pem does not exist"),
        (("show", "text"), "no certificates that can be read"),
        (("show", "text", "--rules", "RULE"), "ssl.principal.mapping.rules"),
    ],
)
def test_mistakes_are_named(directory: Path, arguments: tuple[str, ...], complaint: str) -> None:
    (directory / "text").write_text("a text")
    assert complaint in certs(*arguments, exit_code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("ca",), "certs/ca.pem exists already"),
        (("server", "bücher.example"), "Cannot make this certificate"),
        (("client", "ca"), "--file-name"),
        (("client", "a/b"), "--file-name"),
        (("client", "bob", "--password-file", "p"), "--pkcs12"),
        (("client", "bob", "--pkcs12"), "--password-file"),
        (("show", "certs/ca.key"), "may be the private key"),
    ],
)
def test_nothing_is_overwritten_or_guessed(arguments: tuple[str, ...], complaint: str) -> None:
    certs("ca")
    assert complaint in certs(*arguments, exit_code=2).stderr.replace("\n", " ")


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert "pip install 'ottla[security]'" in certs("ca", exit_code=2).stderr


def verify(name: str) -> str:
    checked = subprocess.run(
        [
            *("openssl", "verify", "-crl_check", "-CAfile", "certs/ca.pem"),
            *("-CRLfile", "certs/ca.crl.pem", f"certs/{name}.pem"),
        ],
        capture_output=True,
        text=True,
    )
    return checked.stdout + checked.stderr


def test_revoked_certificates_stay_on_the_list() -> None:
    certs("ca")
    for name in ("billing", "shop", "reports"):
        certs("client", name)
    assert "wrote certs/ca.crl.pem" in certs("revoke").stdout
    assert verify("billing") == "certs/billing.pem: OK\n"
    certs("revoke", "certs/billing.pem")
    certs("revoke", "certs/shop.keystore.pem", "certs/billing.pem")
    assert "certificate revoked" in verify("billing")
    assert "certificate revoked" in verify("shop")
    assert verify("reports") == "certs/reports.pem: OK\n"


def test_certificates_of_others_are_not_revoked(directory: Path) -> None:
    certs("ca")
    certs("ca", "--out", "other", "--name", "Other")
    certs("client", "billing", "--out", "other")
    refused = certs("revoke", "other/billing.pem", exit_code=2)
    assert "CN=billing is not signed by this authority" in refused.stderr
    assert "Cannot revoke" in certs("revoke", "certs/ca.key", exit_code=2).stderr
    assert "nothing.pem does not exist" in certs("revoke", "nothing.pem", exit_code=2).stderr
    assert not (directory / "certs" / "ca.crl.pem").exists()
