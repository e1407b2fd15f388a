"""Kafka's own server.properties, secured as its documentation says, starts a node unchanged.

With PEM files, with PEM texts, and with PKCS#12 stores that Java's keytool made. Stores in Java's
own format are refused with the keytool command that converts them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

from ottla.cli.exit_codes import ExitCode
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.security.certificates import Certificates
from tests.conformance.security.confluent import ConfluentSecuredClient
from tests.conformance.security.logins import Endpoint, Login
from tests.conformance.security.node import PROPERTIES, started, write_properties
from tests.support.kafka.stock_properties import STOCK
from tests.support.nodes.cluster_processes import free_ports
from tests.support.nodes.node_listeners import HOST
from tests.support.nodes.nodes import OTTLA

PASSWORD: Final = "store-password"
CLUSTER_ID: Final = "MkU3OEVBNTcwNTJENDM2Qg"
SECURED: Final = """
security.inter.broker.protocol=SSL
ssl.client.auth=required
ssl.enabled.protocols=TLSv1.2,TLSv1.3
"""

needs_keytool = pytest.mark.skipif(
    shutil.which("keytool") is None, reason="no keytool on the PATH: install a JDK"
)


class StockNode:
    """With one listener for brokers and clients, who need certificates."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.certificates = Certificates(home / "certs")
        self.own = self.certificates.of_node("node")
        self.client = self.certificates.of_client("mona")
        self.pem_files = f"""
ssl.keystore.type=PEM
ssl.keystore.location={self.own.keystore}
ssl.truststore.type=PEM
ssl.truststore.location={self.certificates.truststore}
"""
        self.port, controller = free_ports(2)
        stock = STOCK.replace("9092", str(self.port)).replace("9093", str(controller))
        stock = stock.replace("/tmp/kraft-combined-logs", str(home / "data"))
        # As operators do who secure it.
        stock = stock.replace(f"PLAINTEXT://:{self.port}", f"SSL://{HOST}:{self.port}")
        stock = stock.replace(f"PLAINTEXT://localhost:{self.port}", f"SSL://localhost:{self.port}")
        stock = stock.replace(f"CONTROLLER://:{controller}", f"CONTROLLER://{HOST}:{controller}")
        self._text = stock.replace("inter.broker.listener.name=PLAINTEXT\n", "") + SECURED

    def set_stores(self, stores: str) -> None:
        write_properties(self.home, self._text + stores)

    def format(self) -> None:
        self.set_stores(self.pem_files)
        formatted = self._run("format", "--cluster-id", CLUSTER_ID, "--standalone")
        assert formatted.returncode == 0, formatted.stderr

    def start_refused(self, stores: str) -> str:
        """What it says that does not start with these stores."""
        self.set_stores(stores)
        refused = self._run("start")
        assert refused.returncode == ExitCode.USAGE, refused.stderr
        return refused.stderr

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [OTTLA, *arguments, "--config", self.home / PROPERTIES],
            env={**os.environ, "COLUMNS": "1000"},
            capture_output=True,
            check=False,
            text=True,
            timeout=TIMEOUT_S,
        )

    def assert_serves(self, truststore: Path) -> None:
        """A client with a certificate that the node trusts, which trusts the one of the node."""
        endpoint = Endpoint(f"localhost:{self.port}", "SSL", truststore)
        login, client = Login("mona", certificate=self.client.keystore), ConfluentSecuredClient()
        with started(self.home):
            client.produce(endpoint, login, "orders", ["one"])


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> StockNode:
    node = StockNode(tmp_path_factory.mktemp("stock"))
    node.format()
    return node


def test_pem_files_start_unchanged(node: StockNode) -> None:
    node.set_stores(node.pem_files)
    node.assert_serves(node.certificates.truststore)


def test_pem_texts_start_unchanged(node: StockNode) -> None:
    node.set_stores(
        f"""
ssl.keystore.type=PEM
ssl.keystore.certificate.chain={_continued(node.own.certificate)}
ssl.keystore.key={_continued(node.own.key)}
ssl.truststore.type=PEM
ssl.truststore.certificates={_continued(node.certificates.truststore)}
"""
    )
    node.assert_serves(node.certificates.truststore)


def _continued(file: Path) -> str:
    """In the lines in which Kafka's documentation writes it."""
    return " \\\n".join(file.read_text().splitlines())


@needs_keytool
def test_stores_of_keytool_start_unchanged_and_jks_is_converted_as_the_error_says(
    node: StockNode,
) -> None:
    jks, trusted = node.home / "node.jks", node.home / "trust.p12"
    names = ("-dname", "CN=localhost, O=Tests", "-ext", f"SAN=dns:localhost,ip:{HOST}")
    key = ("-genkeypair", "-alias", "node", "-keyalg", "EC", "-keystore", str(jks))
    _keytool(*key, "-storetype", "JKS", *names, "-storepass", PASSWORD, "-keypass", PASSWORD)
    authority = ("-importcert", "-alias", "ca", "-file", str(node.certificates.truststore))
    _keytool(*authority, "-keystore", str(trusted), "-noprompt", "-storepass", PASSWORD)
    # Without a type: Kafka's default is JKS.
    stores = f"""
ssl.keystore.location={jks}
ssl.keystore.password={PASSWORD}
ssl.key.password={PASSWORD}
ssl.truststore.type=PKCS12
ssl.truststore.location={trusted}
ssl.truststore.password={PASSWORD}
"""
    refused = node.start_refused(stores)
    command = re.search(r"keytool (-importkeystore .*?); then set", refused)
    settings = re.search(
        r"then set (ssl.keystore.type=PKCS12) and (ssl.keystore.location=\S+?)\. ", refused
    )
    assert command is not None, refused
    assert settings is not None, refused
    _keytool(*shlex.split(command[1]), "-srcstorepass", PASSWORD, "-deststorepass", PASSWORD)
    converted = settings[2].removeprefix("ssl.keystore.location=")
    node.set_stores(stores.replace(f"ssl.keystore.location={jks}", f"{settings[1]}\n{settings[2]}"))
    node.assert_serves(_exported(Path(converted)))


def _keytool(*arguments: str) -> None:
    done = subprocess.run(
        ["keytool", *arguments], capture_output=True, check=False, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _exported(store: Path) -> Path:
    """The certificate of a store, which signs itself, as a client trusts it."""
    entry = load_pkcs12(store.read_bytes(), PASSWORD.encode()).cert
    assert entry is not None
    file = store.with_suffix(".exported.pem")
    file.write_bytes(entry.certificate.public_bytes(Encoding.PEM))
    return file
