"""DeviceScore: which of the devices that a node could give are the better ones, and which node's are."""
