"""`ottla restore`: fills the empty directories of a node from a backup."""
