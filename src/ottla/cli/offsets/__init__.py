"""`ottla offsets`: earliest and latest offsets, and those at a time."""
