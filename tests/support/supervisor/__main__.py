"""`python -m tests.support.supervisor BOOTSTRAP DIR`: a supervisor of fake pipelines."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from pathlib import Path

from ottla.runtime.system_loop import run
from ottla.web.service.listening import ListenAddress
from ottla.web.supervisor.running.child_process import ChildSettings
from ottla.web.supervisor.supervisor import PipelineSupervisor, SupervisorSettings

FAKE = Path(__file__).with_name("fake_pipeline.py")


async def serve(bootstrap: str, directory: Path) -> None:
    children = ChildSettings(
        definitions=directory,
        checkpoints=directory / "checkpoints",
        logs=directory / "logs",
        arguments=(),
        program=(sys.executable, str(FAKE)),
    )
    supervisor = PipelineSupervisor(
        SupervisorSettings(
            listen=ListenAddress.parse("0"),
            children=children,
            properties={"bootstrap.servers": bootstrap},
        )
    )
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    try:
        print(f"Ready on http://{await supervisor.start()}", flush=True)
        await stopping.wait()
    finally:
        await supervisor.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    run(serve(sys.argv[1], Path(sys.argv[2])))
