"""`python -m graphveil` is the command line."""

from graphveil.cli import main

if __name__ == "__main__":
    main()
