"""What tests share: a real control plane on loopback ports, and a small client to talk to it."""
