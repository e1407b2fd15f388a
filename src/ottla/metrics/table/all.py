"""All metrics, in the sections of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.metrics.family import Family
from ottla.metrics.table.client_telemetry import CLIENT_TELEMETRY_FAMILIES
from ottla.metrics.table.controllers import CONTROLLER_FAMILIES
from ottla.metrics.table.coordinators import COORDINATOR_FAMILIES
from ottla.metrics.table.delays import DELAY_FAMILIES
from ottla.metrics.table.pipelines import PIPELINE_FAMILIES
from ottla.metrics.table.process import PROCESS_FAMILIES
from ottla.metrics.table.quotas import QUOTA_FAMILIES
from ottla.metrics.table.replication import REPLICATION_FAMILIES
from ottla.metrics.table.requests import REQUEST_FAMILIES
from ottla.metrics.table.shares import SHARE_FAMILIES
from ottla.metrics.table.storage import STORAGE_FAMILIES
from ottla.metrics.table.supervisors import SUPERVISOR_FAMILIES
from ottla.metrics.table.topics import TOPIC_FAMILIES
from ottla.metrics.table.web import WEB_FAMILIES

NODE_SECTIONS: Final[Mapping[str, tuple[Family, ...]]] = {
    "The node and its process": PROCESS_FAMILIES,
    "Requests and connections": REQUEST_FAMILIES,
    "Quotas": QUOTA_FAMILIES,
    "Topics": TOPIC_FAMILIES,
    "Replication": REPLICATION_FAMILIES,
    "Logs and disks": STORAGE_FAMILIES,
    "Groups and transactions": COORDINATOR_FAMILIES,
    "Share groups": SHARE_FAMILIES,
    "Delayed delivery": DELAY_FAMILIES,
    "Controllers and the metadata quorum": CONTROLLER_FAMILIES,
    "Metrics of clients": CLIENT_TELEMETRY_FAMILIES,
}
SECTIONS: Final[Mapping[str, tuple[Family, ...]]] = {
    **NODE_SECTIONS,
    "Pipelines": PIPELINE_FAMILIES,
    "The gateway and the schema registry": WEB_FAMILIES,
    "Supervisors of pipelines": SUPERVISOR_FAMILIES,
}
NODE_FAMILIES: Final = tuple(family for each in NODE_SECTIONS.values() for family in each)
