"""What happened in a world, in order."""
