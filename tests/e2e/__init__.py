"""The real command line against the real API server: processes that are started, stopped, paused and killed."""
