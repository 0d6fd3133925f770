#!/bin/sh
# The published experiment on load-aware scheduling, in simulation: a replica every few minutes for an hour and more.
NOW=2026-01-31T10:00:00Z

echo "== memory type, by requests alone"
bayplan simulate -f nodes.yaml -f memory-type.yaml --for 80m --now "$NOW" | tail -n +18

echo "== memory type, by real load, and two spare pods where guaranteed ones fit no more"
bayplan simulate -f nodes.yaml -f memory-type.yaml -f spare.yaml --config scheduler-config.yaml --for 80m --now "$NOW" --explain

echo "== CPU type, by requests alone"
bayplan simulate -f nodes.yaml -f cpu-type.yaml --for 80m --now "$NOW" | tail -n +16

echo "== CPU type, by real load"
bayplan simulate -f nodes.yaml -f cpu-type.yaml --config scheduler-config.yaml --for 80m --now "$NOW" | tail -n +16
