"""What Ottla serves over HTTP beside its nodes: the schema registry, and the foundation of others.

These programs are ordinary clients of a cluster. They import nothing of brokers.
"""
