{{/*
The manifests are those of `bayplan manifests`, in the folder manifests/.  A template reads the files of a part, changes
what values ask for, and prints the objects: nothing stands here a second time.
*/}}

{{/* The objects of one part.  Takes: root, part (a folder), values (of this part), files (default: all of the part). */}}
{{- define "bayplan.part" -}}
{{- $folder := printf "manifests/%s" .part -}}
{{- $listed := (.root.Files.Get (printf "%s/kustomization.yaml" $folder) | fromYaml).resources -}}
{{- range $file := default $listed .files }}
{{- range $text := regexSplit "(?m)^---$" ($.root.Files.Get (printf "%s/%s" $folder $file)) -1 }}
---
{{ include "bayplan.object" (dict "root" $.root "values" $.values "object" (fromYaml $text)) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* One object, as the values want it. */}}
{{- define "bayplan.object" -}}
{{- $object := .object -}}
{{- $_ := set $object.metadata "labels" (merge (dict
      "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version)
      "app.kubernetes.io/instance" .root.Release.Name
      "app.kubernetes.io/version" .root.Chart.AppVersion
      "app.kubernetes.io/managed-by" .root.Release.Service) .root.Values.commonLabels (default dict $object.metadata.labels)) -}}
{{- if hasKey $object.metadata "namespace" }}{{ $_ := set $object.metadata "namespace" .root.Release.Namespace }}{{ end -}}
{{- range $subject := $object.subjects }}{{ $_ := set $subject "namespace" $.root.Release.Namespace }}{{ end -}}
{{- $adapt := printf "bayplan.kind.%s" $object.kind -}}
{{- if has $object.kind (list "Deployment" "ConfigMap" "NetworkPolicy") }}{{ include $adapt . }}{{ end -}}
{{- toYaml $object -}}
{{- end -}}

{{- define "bayplan.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{- define "bayplan.kind.Deployment" -}}
{{- $values := .values -}}
{{- $spec := .object.spec -}}
{{- $pod := $spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- if not (kindIs "invalid" $values.replicas) }}{{ $_ := set $spec "replicas" $values.replicas }}{{ end -}}
{{- range $field := list "priorityClassName" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" -}}
{{- if get $values $field }}{{ $_ := set $pod $field (get $values $field) }}{{ end -}}
{{- end -}}
{{- if .root.Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" .root.Values.imagePullSecrets }}{{ end -}}
{{- $_ := set $container "image" (include "bayplan.image" .root) -}}
{{- $_ := set $container "imagePullPolicy" .root.Values.image.pullPolicy -}}
{{- if $values.resources }}{{ $_ := set $container "resources" $values.resources }}{{ end -}}
{{- if $values.env }}{{ $_ := set $container "env" $values.env }}{{ end -}}
{{- $_ := set $container "args" (concat (include "bayplan.args" . | fromYamlArray) (default list $values.extraArgs)) -}}
{{- $_ := set $container "volumeMounts" (concat (default list $container.volumeMounts) (include "bayplan.pluginMounts" . | fromYamlArray) (default list $values.extraVolumeMounts)) -}}
{{- $_ := set $pod "volumes" (concat (default list $pod.volumes) (include "bayplan.pluginVolumes" . | fromYamlArray) (default list $values.extraVolumes)) -}}
{{- $template := $spec.template.metadata -}}
{{- $_ := set $template "labels" (merge dict $template.labels .root.Values.commonLabels (default dict $values.podLabels)) -}}
{{- /* A changed configuration or plugin restarts the pods: both are read at the start. */ -}}
{{- $checksum := dict "checksum/config" (toYaml (list .root.Values.scheduler.config .root.Values.scheduler.plugins .root.Values.annotator.policy .root.Values.shadow.config) | sha256sum) -}}
{{- $_ := set $template "annotations" (merge $checksum (default dict $values.podAnnotations)) -}}
{{- end -}}

{{/* The manifest's own arguments, with the plugins to load and the address of Prometheus. */}}
{{- define "bayplan.args" -}}
{{- $args := list -}}
{{- range $argument := (first .object.spec.template.spec.containers).args -}}
{{- if and $.root.Values.annotator.prometheusAddress (hasPrefix "--prometheus-address=" $argument) -}}
{{- $argument = printf "--prometheus-address=%s" $.root.Values.annotator.prometheusAddress -}}
{{- end -}}
{{- $args = append $args $argument -}}
{{- end -}}
{{- if has (index .object.metadata.labels "app.kubernetes.io/component") (list "rebalancer" "annotator" "placement") -}}
{{- $args = append $args (printf "--leader-elect-resource-namespace=%s" .root.Release.Namespace) -}}
{{- end -}}
{{- if include "bayplan.decides" . -}}
{{- range $plugin := .root.Values.scheduler.plugins.load -}}
{{- $place := ternary "/etc/bayplan-plugins/" "" (contains ".py:" $plugin) -}}
{{- $args = append $args (printf "--plugin=%s%s" $place $plugin) -}}
{{- end -}}
{{- end -}}
{{ toYaml $args }}
{{- end -}}

{{/* Whether this service decides about pods, so that it must have the scheduler's plugins. */}}
{{- define "bayplan.decides" -}}
{{- if has (index .object.metadata.labels "app.kubernetes.io/component") (list "scheduler" "rebalancer" "shadow" "ui") }}true{{ end -}}
{{- end -}}

{{- define "bayplan.pluginConfigMap" -}}
{{- $plugins := .root.Values.scheduler.plugins -}}
{{- if include "bayplan.decides" . -}}
{{- if $plugins.configMap }}{{ $plugins.configMap }}{{ else if $plugins.files }}bayplan-plugins{{ end -}}
{{- end -}}
{{- end -}}

{{- define "bayplan.pluginMounts" -}}
{{- if include "bayplan.pluginConfigMap" . -}}
- {name: plugins, mountPath: /etc/bayplan-plugins, readOnly: true}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{- define "bayplan.pluginVolumes" -}}
{{- with include "bayplan.pluginConfigMap" . -}}
- {name: plugins, configMap: {name: {{ . }}}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* A configuration of the user's takes the place of the one that is written there; the lease is where the release is. */}}
{{- define "bayplan.kind.ConfigMap" -}}
{{- $data := .object.data -}}
{{- range $file, $given := dict "scheduler-config.yaml" .values.config "policy.yaml" .values.policy -}}
{{- if hasKey $data $file -}}
{{- $document := get $data $file | fromYaml -}}
{{- if $given }}{{ $document = merge (deepCopy $given) (pick $document "apiVersion" "kind" "leaderElection") }}{{ end -}}
{{- if hasKey $document "leaderElection" }}{{ $_ := set $document.leaderElection "resourceNamespace" $.root.Release.Namespace }}{{ end -}}
{{- $_ := set $data $file (toYaml $document) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "bayplan.kind.NetworkPolicy" -}}
{{- with .root.Values.networkPolicy.egress -}}
{{- $_ := set $.object.spec "egress" . -}}
{{- $_ := set $.object.spec "policyTypes" (list "Ingress" "Egress") -}}
{{- end -}}
{{- end -}}
