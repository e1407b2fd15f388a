"""What runs in a secured cluster besides its load: a guest, a thief, and an administrator who makes
the ACLs and credentials as intended once the faults are over.
"""

from __future__ import annotations

from typing import Final

from ottla.metadata import MetadataImage
from ottla.model import TopicPartition
from ottla.security.acls.acl import AclBinding
from ottla.simulation.clients.guest import SimulatedGuest
from ottla.simulation.clients.logins import GUEST, THIEF, User
from ottla.simulation.clients.thief import SimulatedThief
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.cluster.cluster_security import ROOT, SimulatedSecurity
from ottla.simulation.faults.security_faults import set_password
from ottla.simulation.history.security_events import acl_key
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World

_RESTORE_SECONDS: Final = 0.5
_TRANSACTIONAL_ID: Final = "copier-1"


class SecurityLoad:
    """`start` it before other clients, which need its ACLs."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        security: SimulatedSecurity,
        partition: TopicPartition,
        group: str,
    ) -> None:
        """`partition` and `group` are those that the guest has requests about."""
        self._world = world
        self._cluster = cluster
        self._security = security
        self._partition = partition
        self._group = group
        self._root = security.admin(ROOT, cluster.bootstrap, name="security")
        self._hosts: list[Host] = []

    async def start(self) -> None:
        """Creates the intended ACLs; retries until they are acknowledged."""
        while await self._root.create_acls(self._security.intended) != 0:
            await self._world.sleep(_RESTORE_SECONDS)
        victim = next(
            (user for user in self._security.logins.users.values() if user.scram is not None),
            self._security.logins.users[ROOT],
        )
        cluster, guest, thief = self._cluster, self._host(GUEST), self._host(THIEF)
        uninvited = SimulatedGuest(
            guest,
            cluster.bootstrap,
            [node.controller_address for node in cluster.nodes],
            self._partition,
            transactional_id=_TRANSACTIONAL_ID,
            group=self._group,
            victim=victim.name,
        )
        guest.run("guest", uninvited.run())
        thief.run("thief", SimulatedThief(thief, cluster.bootstrap).run())

    async def restore(self) -> None:
        """Makes ACLs and credentials as intended, again and again: a request of a fault that is
        over may still be executed."""
        while True:
            image = self._image
            if image is not None:
                missing, surplus = self._differences(image)
                if surplus:
                    await self._root.delete_acls(surplus)
                if missing:
                    await self._root.create_acls(missing)
                for user in self._security.logins.users.values():
                    await self._restore_credential(user, image)
            await self._world.sleep(_RESTORE_SECONDS)

    def reasons(self) -> list[str]:
        """What is not as intended yet."""
        image = self._image
        if image is None:
            return ["there is no active controller"]
        missing, surplus = self._differences(image)
        return [
            *(f"{acl_key(each)} is missing" for each in missing),
            *(f"{acl_key(each)} is not intended" for each in surplus),
            *(
                f"{user.name} has another password"
                for user in self._security.logins.users.values()
                if not self._has_right_password(user, image)
            ),
        ]

    def stop(self) -> None:
        """Ends the clients, and records what each node knows in the end."""
        for host in self._hosts:
            host.kill()
        for node in self._cluster.nodes:
            self._cluster.access_observers[node.id].record_end()

    @property
    def _image(self) -> MetadataImage | None:
        controller = self._cluster.active_controller
        broker = None if controller is None else self._cluster.observer(controller).broker
        return None if broker is None else broker.cluster.image

    def _differences(self, image: MetadataImage) -> tuple[list[AclBinding], list[AclBinding]]:
        """The entries that are missing, and those that are not intended."""
        found = [AclBinding.of_record(each) for each in image.access_control_entries.values()]
        intended = self._security.intended
        return (
            [each for each in intended if each not in found],
            [each for each in found if each not in intended],
        )

    async def _restore_credential(self, user: User, image: MetadataImage) -> None:
        if user.scram is None or self._has_right_password(user, image):
            return
        record = image.scram_credentials.get((user.name, user.scram))
        if record is None:
            await set_password(self._security, self._root, user)
        else:
            logins = self._security.logins
            logins.keep_only(user, logins.password_of(record))

    def _has_right_password(self, user: User, image: MetadataImage) -> bool:
        if user.scram is None:
            return True
        record = image.scram_credentials.get((user.name, user.scram))
        password = None if record is None else self._security.logins.password_of(record)
        return user.passwords == [password]

    def _host(self, name: str) -> Host:
        host = self._world.host(name)
        self._hosts.append(host)
        return host
