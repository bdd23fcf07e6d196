"""What several explorers are built from: the board of a round, bounds, beliefs, the scout, the tournament tree."""
