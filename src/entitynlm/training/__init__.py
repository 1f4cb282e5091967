"""Training of P, of its proposal and of the LSTM baseline by one loop."""
