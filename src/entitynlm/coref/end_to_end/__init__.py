"""End-to-end coreference resolution (Lee et al. 2017) on the frozen states of a pretrained language model."""
