"""`python -m cellweave` is the command `cellweave`."""

from cellweave.cli import main

if __name__ == "__main__":
    main()
