"""Messages declared once and compiled per version."""
