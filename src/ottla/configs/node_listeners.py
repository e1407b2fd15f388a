"""A node's listeners: for clients, for controllers, and advertised ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.configs.errors import InvalidConfigError
from ottla.configs.listeners import (
    SECURITY_PROTOCOLS,
    ConfiguredListener,
    parse_listeners,
    parse_security_protocols,
    validate_ports,
)
from ottla.configs.setting import Setting
from ottla.configs.value import ConfigValue, ConfigValues

_EVERY_INTERFACE: Final = ("0.0.0.0", "::")  # noqa: S104 - what must not be advertised


@dataclass(frozen=True, slots=True)
class _ListenerSettings:
    values: ConfigValues

    def __getitem__(self, name: str) -> ConfigValue:
        return self.values[name]

    listeners = Setting[tuple[str, ...]]("listeners")
    advertised_listeners = Setting[tuple[str, ...] | None]("advertised.listeners")
    controller_listener_names = Setting[tuple[str, ...]]("controller.listener.names")
    early_start_listeners = Setting[tuple[str, ...] | None]("early.start.listeners")
    inter_broker_listener_name = Setting[str | None]("inter.broker.listener.name")
    listener_security_protocol_map = Setting[str]("listener.security.protocol.map")
    process_roles = Setting[tuple[str, ...]]("process.roles")
    security_inter_broker_protocol = Setting[str]("security.inter.broker.protocol")


class NodeListeners(NamedTuple):
    """The node binds `broker` and `controller`; `advertised` is what clients get in metadata.

    `controller_names` are the names of the controller listeners, on this node or on others. Brokers
    and controllers connect to controllers through the first one. `security_protocols` are those of
    the listeners in `broker` and `controller` and of `controller_names`.
    """

    broker: tuple[ConfiguredListener, ...]
    controller: tuple[ConfiguredListener, ...]
    advertised: tuple[ConfiguredListener, ...]
    advertised_controller: tuple[ConfiguredListener, ...]
    controller_names: tuple[str, ...]
    inter_broker_listener_name: str
    security_protocols: Mapping[str, str]

    @classmethod
    def of(cls, values: ConfigValues, *, given: Collection[str]) -> NodeListeners:
        """From parsed configs; `given` are the names that are set explicitly."""
        settings = _ListenerSettings(values)
        controller_names = tuple(name.upper() for name in settings.controller_listener_names)
        protocols = _security_protocols(settings, given=given)
        every = parse_listeners(settings.listeners, config="listeners", protocols=protocols)
        validate_ports(every)
        advertised = parse_listeners(
            settings.advertised_listeners or settings.listeners,
            config="advertised.listeners",
            protocols=protocols,
        )
        controller = tuple(entry for entry in every if entry.name in controller_names)
        # A controller listener without an advertised address is advertised with its own.
        advertised_controller = {entry.name: entry for entry in (*controller, *advertised)}
        _validate_early_start(settings, known={*controller_names, *(name for name, *_ in every)})
        listeners = cls(
            broker=tuple(entry for entry in every if entry.name not in controller_names),
            controller=controller,
            advertised=tuple(entry for entry in advertised if entry.name not in controller_names),
            advertised_controller=tuple(
                _routable(advertised_controller[name])
                for name in controller_names
                if name in advertised_controller
            ),
            controller_names=controller_names,
            inter_broker_listener_name=_inter_broker_name(settings, given=given),
            security_protocols={
                name: protocols[name]
                for name in (*(entry.name for entry in every), *controller_names)
                if name in protocols
            },
        )
        unknown = [name for name in controller_names if name not in protocols]
        if unknown and "controller" not in settings.process_roles:
            raise InvalidConfigError(
                f"no security protocol for {unknown[0]} of controller.listener.names; add "
                f"{unknown[0]}:PLAINTEXT or another to listener.security.protocol.map"
            )
        if "broker" in settings.process_roles:
            listeners._validate_broker()
        listeners._validate_routable()
        return listeners

    def _validate_broker(self) -> None:
        names = {listener.name for listener in self.broker}
        advertised = {listener.name for listener in self.advertised}
        if not advertised:
            raise InvalidConfigError(
                "no listener is left for clients: all of them are in "
                "controller.listener.names; add one for brokers to listeners"
            )
        if not advertised <= names:
            raise InvalidConfigError(
                f"advertised.listeners has {', '.join(sorted(advertised - names))}, "
                f"but listeners has {', '.join(sorted(names)) or 'no listener for clients'}; "
                "advertise only listeners that exist"
            )
        if self.inter_broker_listener_name not in advertised:
            raise InvalidConfigError(
                f"inter.broker.listener.name ({self.inter_broker_listener_name}) must be one of "
                f"the advertised listeners: {', '.join(sorted(advertised))}"
            )

    def _validate_routable(self) -> None:
        for listener in self.advertised:
            if listener.host in _EVERY_INTERFACE:
                raise InvalidConfigError(
                    f"{listener.name} would advertise {listener.host}, which no client can connect "
                    "to: set advertised.listeners (or --advertise) to an address that clients can "
                    f"reach, such as {listener.name}://localhost:{listener.port}"
                )


def _routable(listener: ConfiguredListener) -> ConfiguredListener:
    """As in Kafka, a controller that listens on all interfaces advertises the machine's name."""
    return listener._replace(host="") if listener.host in _EVERY_INTERFACE else listener


def _security_protocols(settings: _ListenerSettings, *, given: Collection[str]) -> dict[str, str]:
    """The security protocols by listener name. If the map is not set and no listener has the name
    of a secured protocol, controller listeners default to PLAINTEXT."""
    protocols = parse_security_protocols(settings.listener_security_protocol_map)
    if "listener.security.protocol.map" in given:
        return protocols
    names = {
        *settings.controller_listener_names,
        *(text.partition(":")[0].upper() for text in settings.listeners),
    }
    if names.isdisjoint(set(SECURITY_PROTOCOLS) - {"PLAINTEXT"}):
        for name in settings.controller_listener_names:
            protocols.setdefault(name.upper(), "PLAINTEXT")
    return protocols


def _inter_broker_name(settings: _ListenerSettings, *, given: Collection[str]) -> str:
    name = settings.inter_broker_listener_name
    if name is None:
        return settings.security_inter_broker_protocol
    if "security.inter.broker.protocol" in given:
        raise InvalidConfigError(
            "inter.broker.listener.name and security.inter.broker.protocol exclude each other: "
            "remove one of them"
        )
    return name.upper()


def _validate_early_start(settings: _ListenerSettings, *, known: set[str]) -> None:
    for name in settings.early_start_listeners or ():
        if name not in known:
            raise InvalidConfigError.of_value(
                "early.start.listeners", name, reason="there is no such name in listeners"
            )
