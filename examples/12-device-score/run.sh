#!/usr/bin/env bash
# The first devices that fit, as kube-scheduler gives them; and the better ones, with DeviceScore.
set -uo pipefail
cd "$(dirname "$0")"

end=$(mktemp)
trap 'rm -f "$end"' EXIT
when=2026-01-31T10:00:00Z

echo '# first fit'
bayplan simulate -f cluster.yaml -f work.yaml --now $when -o manifests > "$end" 2> /dev/null
for pod in small-1 small-2 training; do
    bayplan explain pod $pod -f "$end" --now $when | grep ^default/$pod-
done

echo
echo '# with DeviceScore'
bayplan simulate -f cluster.yaml -f work.yaml --config scheduler-config.yaml --now $when -o manifests > "$end" 2> /dev/null
for pod in small-1 small-2 training; do
    bayplan explain pod $pod -f "$end" --config scheduler-config.yaml --now $when | grep ^default/$pod-
done

echo
echo '$ bayplan explain pod small-1 -f cluster.yaml -f work.yaml --config scheduler-config.yaml'
bayplan explain pod small-1 -f cluster.yaml -f work.yaml --config scheduler-config.yaml --now $when
