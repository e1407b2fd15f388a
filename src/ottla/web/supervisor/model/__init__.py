"""What a supervisor knows and decides, without I/O.

lifecycle.py          one pipeline: when to start, stop and start again
deployment.py         what is deployed, and where it runs: the values of the topic
pipeline_table.py     the topic, applied
checkpoint_rules.py   whether a new version of a definition can keep its checkpoint
child_options.py      which settings a request may choose
"""
