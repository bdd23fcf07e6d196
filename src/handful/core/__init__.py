"""Pure computing on numbers: no clock, disk, network or global random state. It logs only that it compiles."""
