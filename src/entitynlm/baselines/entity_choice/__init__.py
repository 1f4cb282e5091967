"""Who is mentioned next? Models that choose among the entities of a story so far and a new one."""
