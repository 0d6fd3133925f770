"""Tests of the contract between the engine and plugins."""
