"""What happened in a simulation: documents for programs, tables for people."""
