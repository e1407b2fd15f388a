"""`ottla users` against a node that has SCRAM credentials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.main import make_app
from ottla.cli.users.run import NewPassword, delete_user, list_users, set_password
from ottla.configs.value import Password
from ottla.model import ErrorCode
from ottla.security.sasl.scram_credential import (
    ScramMechanism,
    credential_of_salted_password,
    make_credential,
)
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from ottla.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from ottla.wire.schema import Message
from tests.support.captured_terminal import captured_terminal, said
from tests.support.nodes.scripted_cluster import ScriptedCluster

SHA_256, SHA_512 = ScramMechanism
SECRET = Password("bob's secret")


class Credentials:
    """The iterations of the credentials of a cluster, by user and mechanism."""

    def __init__(self) -> None:
        self.stored: dict[tuple[str, int], int] = {}

    def answer(self, request: Message) -> Message:
        if isinstance(request, AlterUserScramCredentialsRequest):
            for deletion in request.deletions:
                del self.stored[deletion.name, deletion.mechanism]
            for upsertion in request.upsertions:
                self.stored[upsertion.name, upsertion.mechanism] = upsertion.iterations
            names = [each.name for each in request.deletions]
            names += [each.name for each in request.upsertions]
            results = [AlterUserScramCredentialsResult(user=name) for name in names]
            return AlterUserScramCredentialsResponse(results=results)
        assert isinstance(request, DescribeUserScramCredentialsRequest)
        users = {user for user, _ in self.stored}
        if request.users is not None:
            users = {each.name for each in request.users}
        return DescribeUserScramCredentialsResponse(results=[self._result(user) for user in users])

    def _result(self, user: str) -> DescribeUserScramCredentialsResult:
        infos = [
            CredentialInfo(mechanism=mechanism, iterations=iterations)
            for (name, mechanism), iterations in self.stored.items()
            if name == user
        ]
        error = ErrorCode.NONE if infos else ErrorCode.RESOURCE_NOT_FOUND
        return DescribeUserScramCredentialsResult(
            user=user, error_code=error, credential_infos=infos
        )


def test_users_live_from_set_password_to_delete() -> None:
    credentials, terminal = Credentials(), captured_terminal()
    cluster = ScriptedCluster(credentials.answer)
    wanted = NewPassword("bob", (SHA_256, SHA_512), 4096, SECRET)
    cluster.run(lambda admin: set_password(admin, terminal, wanted, as_json=False))
    assert "set the SCRAM-SHA-512 credential of bob" in said(terminal)
    request = cluster.requests[0]
    assert isinstance(request, AlterUserScramCredentialsRequest)
    (sent,) = request.upsertions
    salt = bytes(sent.salt)
    assert credential_of_salted_password(
        SHA_256, bytes(sent.salted_password), salt=salt, iterations=4096
    ) == make_credential(SHA_256, SECRET, salt=salt)
    terminal = captured_terminal()
    cluster.run(lambda admin: list_users(admin, terminal, (), as_json=True))
    assert [json.loads(line) for line in said(terminal).splitlines()] == [
        {"user": "bob", "mechanism": "SCRAM-SHA-256", "iterations": 4096},
        {"user": "bob", "mechanism": "SCRAM-SHA-512", "iterations": 4096},
    ]
    cluster.run(lambda admin: delete_user(admin, terminal, "bob", (SHA_256,), as_json=False))
    assert list(credentials.stored) == [("bob", SHA_512)]
    cluster.run(lambda admin: delete_user(admin, terminal, "bob", (), as_json=False))
    assert not credentials.stored
    with pytest.raises(CommandError, match="bob has no SCRAM credentials"):
        cluster.run(lambda admin: delete_user(admin, terminal, "bob", (), as_json=False))


def test_passwords_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("bob's secret\n")
    assert NewPassword.of("bob", None, None, file) == NewPassword("bob", (SHA_512,), 8192, SECRET)
    assert "secret" not in repr(NewPassword.of("bob", ["scram-sha-256"], 4096, file))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("", "has no password"), ("a\nb\n", "more than one line"), ("\n", "has no password")],
)
def test_files_that_are_no_password_are_refused(
    tmp_path: Path, content: str, complaint: str
) -> None:
    file = tmp_path / "password"
    file.write_text(content)
    with pytest.raises(CommandError, match=complaint):
        NewPassword.of("bob", None, None, file)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("bob", "--iterations", "100"), "from 4096 to 16384"),
        (("bob", "-m", "PLAIN"), "must be one of SCRAM-SHA-256, SCRAM-SHA-512"),
        (("bøb",), "must be ASCII"),
        (("bob",), "--password-file"),
        (("bob", "--password-file", "/none"), "/none does not exist"),
    ],
)
def test_mistakes_are_found_before_anything_connects(
    arguments: tuple[str, ...], complaint: str
) -> None:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        make_app("users"), ["users", "set-password", *arguments], catch_exceptions=False
    )
    assert result.exit_code == ExitCode.USAGE
    assert complaint in result.stderr
