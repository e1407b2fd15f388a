"""A cluster in plaintext is switched to TLS and SASL under load, by the phases of the document."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tests.integration.cluster.agreement import assert_everything_is_there
from tests.integration.cluster.cluster_view import (
    controller_listeners,
    create_topic,
    wait_in_sync,
)
from tests.integration.switch.switch_document import SwitchDocument
from tests.integration.switch.switched_load import SOURCE, TARGET, SwitchedLoad
from tests.integration.switch.switching_listeners import SwitchingListeners
from tests.integration.transactions.committed_reader import read_committed
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster, wait_until
from tests.support.nodes.secured_listeners import ADMIN, acls_of_app, password_of, set_password
from tests.support.security.certificates import Authority
from tests.support.soak import IS_SOAK

REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
PROPERTIES = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
}
STEADY = 50
# An ordinary failover takes less than a second; this host may be busy.
GAP_SECONDS_MAX = 30.0


class Switch:
    """A cluster and the phases of its switch."""

    def __init__(
        self, cluster: ClusterProcesses, authority: Authority, *, has_static_voters: bool
    ) -> None:
        files = {"/etc/ottla/ca.pem": str(authority.truststore)}
        for node in cluster.brokers:
            keystore = authority.issue(f"node-{node.id}").keystore
            files[f"/etc/ottla/node{node.id}.keystore.pem"] = str(keystore)
        self.cluster = cluster
        self.document = SwitchDocument(cluster.brokers, files, has_static_voters=has_static_voters)
        self._has_static_voters = has_static_voters
        self._others = {
            node.id: "".join(
                line
                for line in node.properties.read_text().splitlines(keepends=True)
                # The document has the controllers' addresses.
                if not line.startswith("controller.quorum.bootstrap")
            )
            for node in cluster.brokers
        }
        for node in cluster.brokers:
            self._configure(node, self.document.before)

    def add_users(self) -> None:
        passwords = {**self.document.passwords(), ADMIN: password_of(ADMIN)}
        for name, password in passwords.items():
            set_password(self.cluster.admin, name, password)

    def add_acls(self) -> None:
        admin = AdminClient(self.cluster.admin)
        for each in admin.create_acls(acls_of_app()).values():
            each.result(30)

    def roll(self, phase: str, load: SwitchedLoad, nodes: Iterable[NodeOfCluster]) -> None:
        """Restarts nodes with the properties of a phase, one after the other."""
        for node in nodes:
            node.stop()
            self._configure(node, phase)
            node.start()
            node.wait_ready()
            wait_in_sync(self.cluster, SOURCE)
            load.producer.wait_acknowledged(more=STEADY)

    def _configure(self, node: NodeOfCluster, phase: str) -> None:
        node.properties.write_text(self._others[node.id])
        node.configure(self.document.properties(phase, node))

    def wait_controllers_have(self, *names: str) -> None:
        """Returns when each controller is known with these listeners. Static voters are only known
        with the one listener of each node's own configs."""
        if self._has_static_voters:
            return
        wait_until(
            lambda: all(
                set(names) == set(each) for each in controller_listeners(self.cluster).values()
            ),
            f"all controllers have the listeners {', '.join(names)}",
        )


@pytest.mark.parametrize(
    "has_static_voters",
    [
        pytest.param(False, id="dynamic-voters"),
        pytest.param(
            True,
            id="static-voters",
            marks=pytest.mark.skipif(not IS_SOAK, reason="takes long: make soak"),
        ),
    ],
)
def test_a_cluster_is_switched_to_tls_and_sasl_under_load(
    tmp_path: Path, has_static_voters: bool
) -> None:
    authority = Authority(tmp_path)
    listeners = SwitchingListeners(authority.truststore)
    cluster = ClusterProcesses(
        tmp_path, PROPERTIES, listeners=listeners, has_static_voters=has_static_voters
    )
    switch = Switch(cluster, authority, has_static_voters=has_static_voters)
    open_secured, secure_nodes, close_plaintext = switch.document.phases
    nodes = cluster.brokers
    with cluster:
        for topic in (SOURCE, TARGET):
            create_topic(cluster, topic, REPLICAS)
        switch.add_users()
        with SwitchedLoad(cluster.client, len(REPLICAS), tmp_path) as load:
            load.producer.wait_acknowledged(more=STEADY)
            switch.roll(open_secured, load, nodes)
            switch.wait_controllers_have("CONTROLLER", "SECURED_CONTROLLER")
            # All of them in the long form; one of them goes back here.
            switch.roll(secure_nodes, load, nodes if IS_SOAK else nodes[:1])
            switch.roll(open_secured, load, nodes if IS_SOAK else nodes[:1])
            switch.roll(secure_nodes, load, nodes)
            switch.add_acls()
            listeners.client_properties = switch.document.client()
            load.move(cluster.client)
            switch.roll(close_plaintext, load, nodes)
            switch.wait_controllers_have("SECURED_CONTROLLER")
            load.finish_writing()
            load.wait_copied()
        load.end_transactions()
        copies = read_committed(cluster.client, TARGET, len(REPLICAS))
        numbers = list(range(load.producer.written))
        assert copies == [numbers] * len(REPLICAS)
        assert_everything_is_there(cluster, load.producer)
    print(
        f"\n{load.producer.acknowledged_count} records, longest gap {load.gap_seconds_max:.2f} s; "
        f"copiers ended with {dict(load.copiers.ends)} (load {os.getloadavg()[0]:.1f})"
    )
    assert load.gap_seconds_max < GAP_SECONDS_MAX
