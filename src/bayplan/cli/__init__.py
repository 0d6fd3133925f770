"""The command line: one module for each command.  Heavy imports stand inside the commands, so that help is quick."""
