"""Who runs the scenarios of a sweep: this process, others beside it, or machines behind a Dask scheduler."""
