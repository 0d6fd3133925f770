#!/usr/bin/env bash
# Would these claims fit?  No hardware, no drivers: what drivers would publish stands in cluster.yaml.
set -uo pipefail
cd "$(dirname "$0")"

echo '$ bayplan simulate -f cluster.yaml -f work.yaml'
bayplan simulate -f cluster.yaml -f work.yaml --now 2026-01-31T10:00:00Z

end=$(mktemp)
trap 'rm -f "$end"' EXIT
bayplan simulate -f cluster.yaml -f work.yaml --now 2026-01-31T10:00:00Z -o manifests > "$end" 2> /dev/null

echo
echo '$ bayplan simulate -f cluster.yaml -f work.yaml -o manifests > end.yaml'
echo '$ bayplan explain pod training -f end.yaml'
bayplan explain pod training -f "$end" --now 2026-01-31T10:00:00Z

echo
echo '$ bayplan explain pod tuning -f end.yaml'
bayplan explain pod tuning -f "$end" --now 2026-01-31T10:00:00Z
