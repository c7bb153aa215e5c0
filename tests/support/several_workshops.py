"""An executor whose workers are several workshops in this process: all that goes between them is plain data."""

from __future__ import annotations

__all__ = ["HOOKS", "PARTS"]

HOOKS = """
from creval.plugin import hookimpl

@hookimpl
def creval_components(registry):
    registry.add("executor", "several", "creval_several_parts:Several", "several workshops")
"""
PARTS = """
import asyncio, itertools, json
from creval.plugin import crossing_error, open_workshop

SAID, BRIEFS = [], []

def plain(data):
    '''What survives the way: JSON, but for bytes.'''
    return json.loads(json.dumps(data, default=lambda b: {"bytes": b.decode("latin-1")}), object_hook=back)

def back(data):
    return data["bytes"].encode("latin-1") if set(data) == {"bytes"} else data

class Link:
    def __init__(self, name, foreman):
        self.name, self.foreman = name, foreman

    async def ask(self, question):
        SAID.append((self.name, question["what"]))
        return plain(await self.foreman.answer(self.name, plain(question)))

    def tell(self, note):
        SAID.append((self.name, note["what"]))
        self.foreman.hear(self.name, plain(note))

class Several:
    elsewhere = True
    batch = 2
    change = staticmethod(lambda brief: brief)

    def __init__(self, address, options):
        self.count = int(options.get("workers", 2))
        self.shops = []

    async def open(self, foreman):
        self.foreman = foreman
        BRIEFS.append(foreman.brief)
        for number in range(self.count):
            name = f"worker {number}"
            try:
                shop = open_workshop(self.change(plain(foreman.brief)), plain(foreman.private), Link(name, foreman))
            except Exception as error:
                foreman.opened(name, plain({"raised": crossing_error(error)}))
            foreman.opened(name, plain(shop.told()))
            self.shops.append((name, shop))
        self.turns = itertools.cycle(self.shops)

    async def make(self, work):
        name, shop = next(self.turns)
        told = plain(await shop.make(plain(list(work.key))))
        self.foreman.opened(name, plain(shop.told()))
        return self.foreman.made(told)

    async def score(self, task, batches, scored):
        for batch in batches:
            name, shop = next(self.turns)
            told = plain(await shop.score(task, plain(self.foreman.crossing(batch))))
            self.foreman.scored(told, scored)

    async def close(self):
        for _, shop in self.shops:
            await shop.close()
"""
