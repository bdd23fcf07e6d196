"""Hosted studies and their registry: tokens, presence, worker statistics, the organizer's status, opening at start."""
