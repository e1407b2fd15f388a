"""The REST API, in the shape of Kafka Connect's.

routes.py       all routes, and which instance answers them
reading.py      what is deployed, and how it runs
changing.py     deploying, pausing, removing ..., on the owner of the pipeline
forwarded.py    requests sent on to the owner
payloads.py     bodies of requests and answers
"""
