"""The seams simulated: a world with a seed."""
