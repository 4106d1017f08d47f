package io.keelson.core.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Simulations of consecutive seeds, several at a time, each on one thread. */
final class Seeds {
    private static final int THREADS = Math.max(2, Runtime.getRuntime().availableProcessors());

    private final AtomicLong next;
    private final long end;
    private final long steps;
    private final AtomicLong ran = new AtomicLong();
    private final AtomicReference<SimulationFailure> failure = new AtomicReference<>();
    private final Coverage coverage = new Coverage();

    /**
     * @param count how many seeds at least
     * @param steps how many commands are to be decided at least
     */
    Seeds(long first, long count, long steps) {
        this.next = new AtomicLong(first);
        this.end = first + count;
        this.steps = steps;
    }

    /** @throws SimulationFailure the first there was */
    Coverage run() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().name("simulation-" + i).start(this::work));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw failure.get();
        }
        return coverage;
    }

    long ran() {
        return ran.get();
    }

    private void work() {
        try {
            for (long seed = next.getAndIncrement(); failure.get() == null
                    && (seed < end || coverage.commands() < steps); seed = next.getAndIncrement()) {
                Thread.currentThread().setName("simulation of seed " + seed);
                coverage.add(new Simulation(seed).run().coverage);
                ran.incrementAndGet();
            }
        } catch (SimulationFailure e) {
            failure.compareAndSet(null, e);
        }
    }
}
