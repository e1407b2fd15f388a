"""Jobs of a simulated process: how long they wait for a disk."""

from __future__ import annotations

from ottla.simulation import World


def test_a_job_that_waits_for_a_slow_disk_is_done_soon_after_it_is_fast_again() -> None:
    async def story(world: World) -> float:
        host = world.host("slow")
        host.disk.faults.slow("/", 1.0)

        def work() -> None:
            for number in range(100):
                host.disk.make_directories(f"/{number}")

        async def run() -> None:
            await host.background.run(work)

        task = host.run("work", run())
        await world.sleep(5)
        assert not task.done()
        host.disk.faults.heal("/")
        healed = world.now
        await world.wait_until(task.done, seconds=200)
        return world.now - healed

    assert max(World(seed=seed).run(story) for seed in range(4)) < 1.0


def test_a_process_that_waits_for_a_slow_disk_goes_on_soon_after_it_is_fast_again() -> None:
    async def story(world: World) -> float:
        host = world.host("slow")
        host.disk.faults.slow("/", 100.0)

        async def work() -> None:
            host.disk.make_directories("/a")
            await host.clock.sleep(0)

        task = host.run("work", work())
        await world.sleep(5)
        assert not task.done()
        host.disk.faults.heal("/")
        healed = world.now
        await world.wait_until(task.done, seconds=200)
        return world.now - healed

    assert World(seed=1).run(story) < 1.0
