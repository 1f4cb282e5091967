"""``python -m entitynlm`` is the command line."""

from entitynlm.interfaces.cli import main

if __name__ == "__main__":
    main()
