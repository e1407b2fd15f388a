"""What goes wrong in a world, and when."""
