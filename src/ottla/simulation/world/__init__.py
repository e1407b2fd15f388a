"""Simulated hosts with their disks, clocks and processes, and the nodes that run on them."""
