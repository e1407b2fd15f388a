"""Plans configs. A config of the file is set on the resource itself, even if it is the default."""

from __future__ import annotations

from typing import Final

from ottla.cli.apply.changes import MIN_INSYNC_REPLICAS, AlterResource, ConfigChange
from ottla.cli.apply.draft import Draft
from ottla.cli.cluster_file.desired import DesiredConfigs, DesiredState, DesiredValue, ManagedKind
from ottla.cli.cluster_file.mistakes import Place, unknown_name_text
from ottla.cli.cluster_state.present import (
    PresentConfig,
    PresentConfigs,
    PresentState,
    set_configs,
)
from ottla.cli.connection.resource_configs import resource_text
from ottla.configs import ConfigResource, ConfigResourceType
from ottla.configs.tenant_configs import TENANT_CONFIG
from ottla.configs.value import ConfigType, parse_value

# Configs of one listener, and tenants, are described only where they are set.
_OPEN: Final = ("listener.name.", TENANT_CONFIG)
_UNSET: Final = PresentConfig(None, is_set=False)


def plan_cluster(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    if desired.cluster_place is not None:
        resource = ConfigResource(ConfigResourceType.BROKER, "")
        found = dict(present.cluster)
        if MIN_INSYNC_REPLICAS not in desired.cluster:
            # A cluster sets it itself, and with eligible leader replicas (KIP-966) cannot do
            # without it: it is not the file's to delete.
            found.pop(MIN_INSYNC_REPLICAS, None)
        plan_resource(draft, resource, desired.cluster_place, desired.cluster, found)


def plan_brokers(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    for broker, (place, configs) in sorted(desired.brokers.items()):
        if broker not in present.brokers:
            live = ", ".join(map(str, sorted(present.brokers)))
            draft.refuse(
                place,
                f"broker {broker} is not running, and only it can describe and change its configs; "
                f"start it, or leave it out (running: {live})",
            )
            continue
        resource = ConfigResource(ConfigResourceType.BROKER, str(broker))
        plan_resource(draft, resource, place, configs, present.broker_configs[broker])
    for broker, found in sorted(present.broker_configs.items()):
        if broker not in desired.brokers and desired.is_managed(ManagedKind.BROKERS, str(broker)):
            _prune(draft, ConfigResource(ConfigResourceType.BROKER, str(broker)), found)


def plan_groups(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    for name, (place, configs) in sorted(desired.groups.items()):
        resource = ConfigResource(ConfigResourceType.GROUP, name)
        plan_resource(draft, resource, place, configs, present.groups.get(name, {}))
    for name, found in sorted(present.groups.items()):
        if name not in desired.groups and desired.is_managed(ManagedKind.GROUPS, name):
            _prune(draft, ConfigResource(ConfigResourceType.GROUP, name), found)


def plan_client_metrics(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    for name, (place, configs) in sorted(desired.client_metrics.items()):
        resource = ConfigResource(ConfigResourceType.CLIENT_METRICS, name)
        plan_resource(draft, resource, place, configs, present.client_metrics.get(name, {}))
    for name, found in sorted(present.client_metrics.items()):
        is_managed = desired.is_managed(ManagedKind.CLIENT_METRICS, name)
        if name not in desired.client_metrics and is_managed:
            _prune(draft, ConfigResource(ConfigResourceType.CLIENT_METRICS, name), found)


def plan_resource(
    draft: Draft,
    resource: ConfigResource,
    place: Place,
    desired: DesiredConfigs,
    present: PresentConfigs,
) -> None:
    """Plans the configs of a resource that exists."""
    changes = compared(draft, resource, desired, present)
    extra = {name: config for name, config in set_configs(present).items() if name not in desired}
    if draft.is_pruning:
        changes += [_deletion(name, config) for name, config in extra.items()]
    else:
        draft.kept += [f"{name} of {resource_text(resource)}" for name in extra]
    if changes:
        draft.add(AlterResource(resource, place, tuple(changes)))


def compared(
    draft: Draft, resource: ConfigResource, desired: DesiredConfigs, present: PresentConfigs
) -> list[ConfigChange]:
    """The configs to set. `present` is empty for a resource that does not exist."""
    found = []
    for name, value in sorted(desired.items()):
        what = f"{name} of {resource_text(resource)}"
        if present and name not in present and not name.startswith(_OPEN):
            hint = unknown_name_text(name, present)
            draft.refuse(value.place, f"there is no config {what}{hint}")
            continue
        change = _change(draft, what, name, value, present.get(name, _UNSET))
        if change is not None:
            found.append(change)
    return found


def _change(
    draft: Draft, what: str, name: str, desired: DesiredValue, present: PresentConfig
) -> ConfigChange | None:
    """None if there is nothing to change, or after a mistake."""
    if desired.text is None:
        return _secret_change(draft, what, name, desired, present)
    if present.is_sensitive:
        draft.refuse(
            desired.place,
            f"{what} is a secret; write password_file or password_env below it instead of a value",
        )
        return None
    try:
        is_same = _is_same(present, desired.text)
    except ValueError as error:
        draft.refuse(desired.place, f"{what} is {desired.text!r}: {error}")
        return None
    if present.is_set and is_same:
        return None
    if present.is_read_only:
        draft.refuse(
            desired.place,
            f"{what} cannot be changed while brokers run; set it in the file of each broker, and "
            "restart it",
        )
        return None
    return ConfigChange(name, present.value, present.is_set, desired.text)


def _secret_change(
    draft: Draft, what: str, name: str, desired: DesiredValue, present: PresentConfig
) -> ConfigChange | None:
    """A secret that is set stays as it is: the cluster does not show it."""
    if present.is_set:
        return None
    if desired.secret is None:
        draft.refuse(
            desired.place,
            f"{what} is not set yet; write password_file or password_env instead of sensitive",
        )
        return None
    return ConfigChange(name, None, present.is_set, None, desired.secret, is_sensitive=True)


def _is_same(present: PresentConfig, text: str) -> bool:
    """Compares values, not texts. Raises a ValueError for a text that is not of the type."""
    if present.type in (ConfigType.UNKNOWN, ConfigType.PASSWORD) or present.value is None:
        return present.value == text
    wanted = parse_value(present.type, text)
    return parse_value(present.type, present.value) == wanted


def _prune(draft: Draft, resource: ConfigResource, present: PresentConfigs) -> None:
    """Plans the deletion of all configs of a resource that is not in the files."""
    extra = set_configs(present)
    if extra:
        deletions = tuple(_deletion(name, config) for name, config in extra.items())
        what = f"the configs of {resource_text(resource)}"
        draft.prune(what, AlterResource(resource, None, deletions))


def _deletion(name: str, present: PresentConfig) -> ConfigChange:
    return ConfigChange(
        name, present.value, was_set=True, after=None, is_sensitive=present.is_sensitive
    )
