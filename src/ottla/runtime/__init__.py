"""The seams to the world: clock, disk, network, dice, background work."""
