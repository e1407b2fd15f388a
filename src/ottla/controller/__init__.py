"""The controller: decides changes of the cluster's metadata and writes them to the metadata log."""
