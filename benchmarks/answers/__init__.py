"""How many answers each explorer needs on simulated answers, beside what is aimed at."""
