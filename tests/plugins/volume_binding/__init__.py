"""Tests of VolumeBinding, one file for each thing it does."""
