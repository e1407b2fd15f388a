"""The documentation of each config: the texts of DescribeConfigs (KIP-569) and docs/configs.md.

They are a tenth of a megabyte, so no module that a node needs to start imports them.
"""

from ottla.configs.documentation.lookup import documentation

__all__ = ["documentation"]
