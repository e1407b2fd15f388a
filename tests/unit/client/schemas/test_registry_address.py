"""URLs of schema registries."""

from __future__ import annotations

import pytest

from ottla.client.errors import ConfigError
from ottla.client.schemas import SchemaRegistryClient
from ottla.client.schemas.registry_http import RegistryAddress, basic


def test_a_url_names_host_port_path_and_credentials() -> None:
    address = RegistryAddress.parse("https://me:p%40ss@registry:8443/base/")
    assert address == RegistryAddress(
        "https://registry:8443/base", True, "registry", 8443, "/base", basic("me", "p@ss")
    )
    assert RegistryAddress.parse(" http://registry").port is None


@pytest.mark.parametrize(
    "url", ["localhost:8081", "registry", "", "ftp://registry", "http://", "http://r:port"]
)
def test_what_is_no_url_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(ConfigError, match="schema registry"):
        SchemaRegistryClient(url)


def test_a_refused_url_does_not_show_its_password() -> None:
    with pytest.raises(ConfigError) as caught:
        SchemaRegistryClient("htp://me:secret@registry:8081")
    assert "secret" not in str(caught.value)
