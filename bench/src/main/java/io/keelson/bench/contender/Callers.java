package io.keelson.bench.contender;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** The closed loop of a {@link Load}, the same for every contender. */
final class Callers {

    /** One run, from submission to end. */
    interface OneRun {
        void toItsEnd() throws Exception;
    }

    private final Load load;
    private final OneRun run;
    private final AtomicInteger begun = new AtomicInteger();
    private final long start = System.nanoTime();
    private final long deadline;

    private Callers(Load load, OneRun run) {
        this.load = load;
        this.run = run;
        this.deadline = load.seconds() > 0 ? start + (long) (load.seconds() * 1e9) : Long.MAX_VALUE;
    }

    /** @param threads the kind of threads of callers that serves this contender best */
    static WorkloadResult measure(Load load, ThreadFactory threads, OneRun run) throws Exception {
        return new Callers(load, run).measure(threads);
    }

    private WorkloadResult measure(ThreadFactory threads) throws Exception {
        try (ExecutorService pool = Executors.newThreadPerTaskExecutor(threads)) {
            List<Future<long[]>> callers = new ArrayList<>();
            for (int i = 0; i < load.callers(); i++) {
                callers.add(pool.submit((Callable<long[]>) this::call));
            }
            long[] all = new long[0];
            for (Future<long[]> caller : callers) {
                long[] more = caller.get();
                int size = all.length;
                all = Arrays.copyOf(all, size + more.length);
                System.arraycopy(more, 0, all, size, more.length);
            }
            long end = load.count() > 0 ? System.nanoTime() : deadline;
            return WorkloadResult.of(all.length, end - start, all);
        }
    }

    /** Latencies of what ended in time. */
    private long[] call() throws Exception {
        long[] latencies = new long[1024];
        int size = 0;
        for (long before = System.nanoTime(); goesOn(before); before = System.nanoTime()) {
            run.toItsEnd();
            long after = System.nanoTime();
            if (after <= deadline) {
                if (size == latencies.length) {
                    latencies = Arrays.copyOf(latencies, 2 * size);
                }
                latencies[size++] = after - before;
            }
        }
        return Arrays.copyOf(latencies, size);
    }

    private boolean goesOn(long now) {
        return now < deadline && (load.count() == 0 || begun.incrementAndGet() <= load.count());
    }
}
