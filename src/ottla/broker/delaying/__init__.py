"""Delayed delivery: the leader of a partition holds records until they are due."""
