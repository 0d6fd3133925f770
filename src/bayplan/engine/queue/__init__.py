"""Where pods wait: ``scheduling_queue`` is the whole queue, the other modules are its parts."""
