"""`ottla registry`: a schema registry for a cluster."""
