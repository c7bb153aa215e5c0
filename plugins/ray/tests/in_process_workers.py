"""An executor whose workers are in this process: everything that crosses between them and the run is plain data."""

from __future__ import annotations

__all__ = ["HOOKS", "PARTS"]

HOOKS = """
from creval.plugin import hookimpl

@hookimpl
def creval_components(registry):
    registry.add("executor", "several", "creval_several_parts:Several", "several workers in this process")
"""
PARTS = """
import itertools, json
from creval_ray.coordinator import Coordinator
from creval_ray.wire import encode_error
from creval_ray.worker import open_worker

SENT, SPECS = [], []

def plain(data):
    '''What survives the way: JSON, except for bytes.'''
    return json.loads(json.dumps(data, default=lambda b: {"bytes": b.decode("latin-1")}), object_hook=back)

def back(data):
    return data["bytes"].encode("latin-1") if set(data) == {"bytes"} else data

class Channel:
    def __init__(self, name, coordinator):
        self.name, self.coordinator = name, coordinator

    async def ask(self, question):
        SENT.append((self.name, question["what"]))
        return plain(await self.coordinator.answer(self.name, plain(question)))

    def notify(self, note):
        SENT.append((self.name, note["what"]))
        self.coordinator.notify(self.name, plain(note))

class Several:
    remote = True
    batch = 2
    change = staticmethod(lambda spec: spec)

    def __init__(self, address, options):
        self.count = int(options.get("workers", 2))
        self.workers = []

    async def open(self, context):
        self.coordinator = coordinator = Coordinator(context)
        SPECS.append(coordinator.spec)
        for number in range(self.count):
            name = f"worker {number}"
            try:
                spec, private = self.change(plain(coordinator.spec)), plain(coordinator.private)
                worker = open_worker(spec, private, Channel(name, coordinator))
            except Exception as error:
                coordinator.update(name, plain({"raised": encode_error(error)}))
            coordinator.update(name, plain(worker.status()))
            self.workers.append((name, worker))
        self.turns = itertools.cycle(self.workers)

    async def make(self, item):
        name, worker = next(self.turns)
        result = plain(await worker.make(plain(list(item.key))))
        self.coordinator.update(name, plain(worker.status()))
        return self.coordinator.decode_result(result)

    async def score(self, task, batches, scored):
        for batch in batches:
            name, worker = next(self.turns)
            result = plain(await worker.score(task, plain(self.coordinator.encode_samples(batch))))
            self.coordinator.take_scores(result, scored)

    async def close(self):
        for _, worker in self.workers:
            await worker.close()
"""
