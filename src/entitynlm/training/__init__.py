"""Training: one readable loop for P, for both proposals and for the LSTM baseline."""
