"""`handful bench answers`: how many answers each explorer needs, on many instances, beside what is aimed at."""
