"""Every metric that Ottla exports, declared once.

The documentation, the dashboard and the alerts are made from this table. A metric that is exported
and not in it, or is in it and not exported by a running node, fails a test.
"""

from ottla.metrics.table.all import NODE_FAMILIES, SECTIONS
from ottla.metrics.table.pipelines import PIPELINE_FAMILIES

__all__ = ["NODE_FAMILIES", "PIPELINE_FAMILIES", "SECTIONS"]
