"""Numbers in, numbers out: no clock, disk, network, global random state, nor logging but of compiling."""
