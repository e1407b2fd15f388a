"""Files of client properties: secrets that other users of the host can read are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.cli.client_security.command_config import read_command_config

LOGIN = 'sasl.jaas.config=PlainLoginModule required username="a" password="b";\n'


@pytest.mark.parametrize("text", [LOGIN, "sasl.password=secret\n", "ssl.key.password=secret\n"])
def test_passwords_that_others_can_read_are_reported(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(text)
    file.chmod(0o644)
    read_command_config(file)
    assert f"chmod 600 {file}" in caplog.text
    caplog.clear()
    file.chmod(0o640)
    read_command_config(file)
    assert caplog.text == ""


def test_files_without_passwords_may_be_read_by_everyone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id=billing\n")
    file.chmod(0o644)
    read_command_config(file)
    assert caplog.text == ""
