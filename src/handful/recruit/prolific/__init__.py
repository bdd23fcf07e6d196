"""Prolific by its interface: a draft, its cost, publishing, arrivals that are checked, and pay that is made once."""
