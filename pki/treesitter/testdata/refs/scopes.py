from __future__ import annotations

import os.path, sys as system
import shop.models
from . import util
from ..core import (Store as Shop, Item)
from .names import *
from typing import Dict, List, Optional


class Base(util.Thing, Generic[Item], metaclass=Meta):
    kind: Item = None
    other = Shop()

    def __init__(self, store: Shop, items: List[Item] = (), *args: Item, by: Optional["Base"] = None, **kw):
        self.store = store
        self.items: Dict[str, Item] = {}
        self.by = by
        super().__init__(store)

    @property
    def first(self) -> Item:
        return self.items["a"]

    @classmethod
    def make(cls, path=os.path.join("a")) -> "Base":
        return cls(Shop())

    @staticmethod
    def free(self):
        return self.kind

    def run(self, Shop):
        global counter
        counter = 1
        Shop.close()
        self.store.put(kind)
        for name, item in self.items.items():
            item.sell()
        for one in self.items.values():
            one.sell()
        self.first.sell()
        with Shop.open() as f, self.store.lock() as lock:
            lock.free(f)
        try:
            self.by.run(1)
        except (OSError, Item) as e:
            e.sell()
        except util.Error as e:
            e.explain()
        return [i.price for i in self.args if i.price] + [counter]


def helper(a: Shop | None, b=Base):
    def inner():
        nonlocal a
        a = helper(a)
        return inner
    if (n := inner()):
        n()
    x: Item = a
    x.sell()
    y, z = w = Base.make(), helper
    w.run()
    shop.models.Model.save(y)
    lam = lambda q, r=Shop: q + r
    match x:
        case Item(price=p) | util.Thing(p):
            print(p)
        case other:
            other.kind = z
    return Base.make()


counter = 0
counter += helper(Base).run.real
made = helper(None)
made.first.sell()
if __name__ == "__main__":
    made.run(f"{made.kind!r} {counter}")
