"""Loads, checks and runs a pipeline's module.

| module | holds |
|---|---|
| `loading.py` | loads a file into a registry |
| `java.py` | the Java that Spark runs on |
| `spark_home.py` | a SPARK_HOME with which Python workers start faster |
| `class_archive.py`, `class_training.py` | an archive of Spark's Java classes, for faster starts |
| `cache_directory.py` | the directory of generated files |
| `session.py`, `spark_log.py` | starts Spark for a pipeline, with its log in a file |
| `checkpoint_lock.py` | one pipeline at a time on a directory of checkpoints |
| `graph.py` | builds DataFrames from definitions, one query at a time |
| `checking.py` | finds mistakes before anything runs |
| `queries.py` | starts, watches and stops queries |
| `progress.py`, `metrics.py` | Spark's progress of a query, and Prometheus metrics of it |
| `failures.py` | explains why a query ended |
"""
