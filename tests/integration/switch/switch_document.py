"""The phases of docs/security_switch.md, as properties of the nodes of a test's cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ottla.configs.java_properties import parse_properties
from tests.support.nodes.node_listeners import HOST, NodePorts

DOCUMENT: Final = Path(__file__).resolve().parents[3] / "docs" / "security_switch.md"
# In the order of the ports of a node in a test.
PORTS: Final = ("9092", "9093", "9094", "9095", "9096")
CLIENTS_PORT: Final = PORTS.index("9094")
_BOOTSTRAP: Final = "controller.quorum.bootstrap.servers"
_HEADING: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)
_BLOCK: Final = re.compile(r"^```properties\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ADDRESS: Final = re.compile(r"node(\d)\.example\.com:(\d+)")
_LOGIN: Final = re.compile(r'username="([^"]+)" password="([^"]+)"')


class SwitchDocument:
    """`files` maps the paths in the document to those of the test."""

    def __init__(
        self, nodes: Sequence[NodePorts], files: Mapping[str, str], *, has_static_voters: bool
    ) -> None:
        self._has_static_voters = has_static_voters
        self._nodes = {node.id: node for node in nodes}
        self._files = files
        _, *parts = _HEADING.split(DOCUMENT.read_text())
        self._blocks = {
            heading: block[1]
            for heading, text in zip(parts[::2], parts[1::2], strict=True)
            if (block := _BLOCK.search(text)) is not None
        }

    @property
    def phases(self) -> list[str]:
        """The headings of the phases, in order."""
        return [heading for heading in self._blocks if heading.startswith("Phase")]

    @property
    def before(self) -> str:
        """The heading of the properties before the switch."""
        return next(iter(self._blocks))

    def properties(self, phase: str, node: NodePorts) -> dict[str, str]:
        """The properties of a node in a phase."""
        headings = [self.before, *self.phases]
        merged: dict[str, str] = {}
        for heading in headings[: headings.index(phase) + 1]:
            merged |= self._properties(heading, node)
        return merged

    def client(self) -> dict[str, str]:
        """The properties of a client that has moved."""
        return self._properties("Move the clients", next(iter(self._nodes.values())))

    def passwords(self) -> dict[str, str]:
        """By user, all that nodes and clients log in with."""
        texts = [*self.client().values()]
        for node in self._nodes.values():
            for heading in self.phases:
                texts += self._properties(heading, node).values()
        return {name: password for text in texts for name, password in _LOGIN.findall(text)}

    def _properties(self, heading: str, node: NodePorts) -> dict[str, str]:
        text = self._blocks[heading].replace("nodeN", f"node{node.id}")
        text = re.sub(r"(?<=[-=])N\b", str(node.id), text)
        for path, file in self._files.items():
            text = text.replace(path, file)
        found = dict(parse_properties(_ADDRESS.sub(self._address, text)))
        if self._has_static_voters and _BOOTSTRAP in found:
            addresses = zip(self._nodes, found.pop(_BOOTSTRAP).split(","), strict=True)
            found["controller.quorum.voters"] = ",".join(f"{it}@{host}" for it, host in addresses)
        return found

    def _address(self, match: re.Match[str]) -> str:
        node_id, port = match.groups()
        return f"{HOST}:{self._nodes[int(node_id)].ports[PORTS.index(port)]}"
