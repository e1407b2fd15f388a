"""What each config means: the texts of DescribeConfigs (KIP-569) and of docs/configs.md.

They are a tenth of a megabyte, so nothing imports them that a node needs to start.
"""

from ottla.configs.documentation.lookup import documentation

__all__ = ["documentation"]
