"""The file of `ottla apply` and `ottla export`: what a cluster shall have, as YAML."""
