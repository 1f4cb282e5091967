"""A latent antecedent-ranking coreference system in the way of cort (Martschat and Strube 2015)."""
