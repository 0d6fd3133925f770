"""The scheduler's configuration file: its models, defaults and older versions, and what can be wrong with it."""
