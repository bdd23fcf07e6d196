"""The collection people choose from: its items, where they come from, how they are taken in and decoded."""
