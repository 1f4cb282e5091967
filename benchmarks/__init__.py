"""Speed, measured: ``python -m benchmarks.run`` (or ``make bench``). One module per benchmark, see ``benchmarks.run``."""
