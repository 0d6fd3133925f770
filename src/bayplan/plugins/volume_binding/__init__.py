"""VolumeBinding: pods run where their volumes are, or can be made.  See ``plugin``."""

from bayplan.plugins.volume_binding.plugin import VolumeBinding, VolumeBindingArgs

__all__ = ["VolumeBinding", "VolumeBindingArgs"]
