//go:build tools

// Package helm pins the Helm that the chart is tested with.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
