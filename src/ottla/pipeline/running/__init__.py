"""A pipeline's module loaded, checked and run.

| module | holds |
|---|---|
| `loading.py` | a file turned into a registry |
| `java.py` | the Java that Spark runs on |
| `class_archive.py`, `class_training.py` | Spark's classes in a file, for quick starts |
| `cache_directory.py` | where both keep what is made once |
| `session.py` | Spark, started for a pipeline |
| `graph.py` | definitions turned into DataFrames, one query at a time |
| `checking.py` | what is wrong before anything runs |
| `queries.py` | queries started, watched and stopped |
| `progress.py` | Spark's progress in a few numbers |
| `failures.py` | why a query ended, in words |
"""
