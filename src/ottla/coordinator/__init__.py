"""Coordinators: state machines over the partitions of internal topics."""
