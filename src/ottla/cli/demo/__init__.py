"""`make demo`: three nodes serve a client while a leader is killed; then a pipeline that is killed
counts every flight exactly once. The demo checks all results that it shows.

| module | holds |
|---|---|
| `story.py` | runs both parts, and prints where to look at the results |
| `failover.py` | part one: a leader is killed under load, and no record is lost |
| `load.py` | the client |
| `punctuality.py` | part two: a pipeline over a year of flights, with two kills |
| `flights.py` | sends the flights to topics |
| `pipeline_process.py` | runs, watches and kills the pipeline's process |
| `proof.py` | compares the topic and the table with a plain computation |
| `plot.py` | the plot |
"""
