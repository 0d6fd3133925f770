"""Workload files, and how fast the engine schedules them in memory."""
