"""`make demo`: the whole story on three nodes, from a killed leader to a pipeline that was killed
and has counted every flight once. What it shows is what it checks.

| module | holds |
|---|---|
| `story.py` | the acts in their order, and what is left to look at |
| `failover.py` | the first act: a leader is killed under load, and nothing is lost |
| `load.py` | its client |
| `punctuality.py` | the second act: a pipeline over a year of flights, through two kills |
| `flights.py` | the flights, from their package into topics |
| `pipeline_process.py` | the pipeline as a process, which is watched and killed |
| `proof.py` | what a plain computation says, beside what is in the topic and in the table |
| `plot.py` | the picture |
"""
