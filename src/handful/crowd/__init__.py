"""The crowd app: it knows HTTP and people, and carries their answers to the study, which decides."""
