"""The schema registry: the REST API that clients of Confluent's registry speak.

    model/         what a registry knows: subjects, versions, ids, settings; pure
    operations/    what a request changes: (state, request) -> records and a response; pure
    storing/       the topic of schemas, the writer among several instances, and forwarding to it
    api/           routes: HTTP to operations and back
    registry.py    puts it together

The state is what the records of a compacted topic say, in the formats of Confluent's registry, so
either can take over a topic of the other. All changes of the state come from the topic, on the
writer as well; a response is sent when the instance has read what the request wrote.
"""
