"""Faults, and the plans that schedule them."""
