"""The data pipeline on Spark: `spark.read.format("ottla")` and what belongs to it.

Needs the extra `ottla[pipeline]`. Spark finds the source by itself in any session whose Python has
the package (the module `pyspark_ottla`); no jar is involved.
"""
