"""`python -m headstart`, which is also how torchrun starts a worker."""

from headstart.cli import main

if __name__ == "__main__":
    main()
