"""The controller: what may become of a cluster, and the log in which that is written down."""
