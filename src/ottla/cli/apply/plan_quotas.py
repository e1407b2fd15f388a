"""Plans quotas."""

from __future__ import annotations

from ottla.cli.apply.changes import AlterQuotas, QuotaChange
from ottla.cli.apply.draft import Draft
from ottla.cli.cluster_file.desired import DesiredState, ManagedKind
from ottla.cli.cluster_state.present import PresentState
from ottla.cli.display.quota_texts import entity_text
from ottla.quotas.entities import QuotaEntity

# Stands for the name of a default in `manages`.
_DEFAULT = "<default>"


def plan_quotas(draft: Draft, desired: DesiredState, present: PresentState) -> None:
    for entity, wanted in sorted(desired.quotas.items(), key=repr):
        found = present.quotas.get(entity, {})
        changes = [
            QuotaChange(key, found.get(key), quota.value)
            for key, quota in sorted(wanted.limits.items())
            if found.get(key) != quota.value
        ]
        extra = sorted(found.keys() - wanted.limits.keys())
        if draft.is_pruning:
            changes += [QuotaChange(key, found[key], None) for key in extra]
        else:
            draft.kept += [f"{key} of {entity_text(entity)}" for key in extra]
        if changes:
            draft.add(AlterQuotas(entity, wanted.place, tuple(changes), is_new=not found))
    for entity, found in sorted(present.quotas.items(), key=repr):
        if entity not in desired.quotas and _is_managed(desired, entity):
            gone = tuple(QuotaChange(key, value, None) for key, value in sorted(found.items()))
            change = AlterQuotas(entity, None, gone, is_last=True)
            draft.prune(f"the quotas of {entity_text(entity)}", change)


def _is_managed(desired: DesiredState, entity: QuotaEntity) -> bool:
    """By the name of its user, or else of its client id or its address."""
    _, name = entity[-1]
    return desired.is_managed(ManagedKind.QUOTAS, _DEFAULT if name is None else name)
