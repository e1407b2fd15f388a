"""Files with passwords that other users of the host can read are named with the remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.cli.client_security.command_config import read_command_config
from ottla.cli.start.properties_file import read_properties

SECRET = 'sasl.jaas.config=PlainLoginModule required username="a" password="b";\n'
LISTENER = f"listener.name.clients.plain.{SECRET}"
TOKENS = "delegation.token.secret.key=secret\n"


@pytest.mark.parametrize(
    ("read", "text"),
    [(read_command_config, SECRET), (read_properties, LISTENER), (read_properties, TOKENS)],
)
def test_passwords_that_others_can_read_are_reported(
    read: Callable[[Path], object], text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "some.properties"
    file.write_text(text)
    file.chmod(0o644)
    read(file)
    assert f"chmod 600 {file}" in caplog.text
    caplog.clear()
    file.chmod(0o640)
    read(file)
    assert caplog.text == ""


@pytest.mark.parametrize("read", [read_command_config, read_properties])
def test_files_without_passwords_may_be_read_by_everyone(
    read: Callable[[Path], object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "some.properties"
    file.write_text("client.id=billing\n")
    file.chmod(0o644)
    read(file)
    assert caplog.text == ""
