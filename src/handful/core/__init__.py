"""Numbers in, numbers out: no clock, disk, network, global random state or logging."""
