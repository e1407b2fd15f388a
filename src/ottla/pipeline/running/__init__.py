"""A pipeline's module loaded, checked and run.

| module | holds |
|---|---|
| `loading.py` | a file turned into a registry |
| `session.py` | Spark, started for a pipeline |
| `graph.py` | definitions turned into DataFrames, one query at a time |
| `checking.py` | what is wrong before anything runs |
| `queries.py` | queries started, watched and stopped |
| `progress.py` | Spark's progress in a few numbers |
| `failures.py` | why a query ended, in words |
"""
