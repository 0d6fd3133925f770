"""Sweeps: many scenarios of one cluster, and a row for each."""
