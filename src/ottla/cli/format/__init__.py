"""`ottla format`: prepares the directories of a node."""
