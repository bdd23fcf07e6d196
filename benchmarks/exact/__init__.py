"""Known functions beside other packages, each measured in a process of its own."""
