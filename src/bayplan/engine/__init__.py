"""Pure scheduling: events in, intents out.  No network, no wall clock, no plugin imports."""
