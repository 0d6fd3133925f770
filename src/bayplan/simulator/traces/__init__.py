"""Traces: CSV files of nodes and pods, as objects of a cluster."""
