"""Module."""
import os

LIMIT = 10
names: list[str] = []
a, b = 1, 2


# Reads one.
# In two lines.
def read(path: str, *, deep: bool = False) -> bytes:
    """Reads the file.

    And more.
    """
    local = 1

    def inner(x):
        return x

    return inner(path)


@dataclass(frozen=True)
class Store(Base, metaclass=Meta):
    '''Keeps things.'''

    root: str
    size: int = 0
    kind = "x"

    @property
    def path(self) -> str:
        return self.root

    async def load(
        self,
        key: str,
    ) -> None:
        pass

    class Entry:
        def größe(self): return 1


if os.name == "nt":
    def only_here(): ...


def broken(:
    pass


def after():
    lambda x: x
