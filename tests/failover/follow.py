"""follow.py - one address for a service, which leads to the master that is named: what a managed
service or a balancer gives. Connections that stand are left where they are."""

import asyncio
import threading

from service import SERVER_PORT
from wire import HERE


class Follow:
    def __init__(self, host, watch):
        self.host, self.watch = host, watch
        self.loop = asyncio.new_event_loop()
        self.tasks = set()
        self.begun = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.begun.wait()

    def run(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.accept, self.host, SERVER_PORT))
        self.begun.set()
        self.loop.run_forever()
        server.close()

    async def accept(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        try:
            there = await asyncio.open_connection(self.watch.master().host, SERVER_PORT,
                                                  local_addr=(HERE, 0))
            await asyncio.gather(self.pass_on(reader, there[1]), self.pass_on(there[0], writer))
        except OSError:
            writer.close()
        finally:
            self.tasks.discard(asyncio.current_task())

    @staticmethod
    async def pass_on(reader, writer):
        try:
            while True:
                got = await reader.read(65536)
                if not got:
                    break
                writer.write(got)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    def end(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
