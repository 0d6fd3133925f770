"""Real use in a simulation: profiles, history, and what is measured of it."""
