package io.keelson.server.base.compute;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs what tenants have computed: expressions, schemas, templates, regular expressions, YAML. It has a few platform
 * threads, because a computing virtual thread would keep its carrier from all others, including probes and dispatch.
 * Workspaces take turns, no workspace uses all threads, and the computing time of a run on this server is limited.
 * Within a workspace, requests go before runs.
 */
public final class Computation implements AutoCloseable {

    /** A budget that no run spends. */
    public static final Duration UNLIMITED = Duration.ofNanos(Long.MAX_VALUE);

    private static final int MAX_RUNS_KNOWN = 10_000;
    /** Expressions go by recursion: as deep as {@code ExpressionLimits} allows. */
    private static final long STACK_BYTES = 64L << 20;

    /** @param run null for what no run has asked for; it has no budget */
    public record Owner(UUID workspace, @Nullable UUID run) {}

    /** The run has computed for as long as it may. */
    public static final class SpentException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        SpentException(Duration budget) {
            super("the run's expressions and other computations have taken more than " + budget.toSeconds()
                    + " s on this server (KEELSON_RUN_COMPUTE_SECONDS)", null, false, false);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** The lines of workspaces with work here. */
    private final Map<UUID, Line> lines = new HashMap<>();
    /** The lines with waiting work, the next one first. */
    private final Deque<Line> turns = new ArrayDeque<>();
    private final Map<UUID, Long> spent = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Long> eldest) {
            return size() > MAX_RUNS_KNOWN;
        }
    };
    private final List<Thread> threads = new ArrayList<>();
    private final Duration budget;
    private final int share;
    private boolean closed;

    /** The work of one workspace. */
    private static final class Line {
        private final UUID workspace;
        /** Computations of requests, which precede computations of runs. */
        private final Deque<Job<?>> ofRequests = new ArrayDeque<>();
        private final Deque<Job<?>> ofRuns = new ArrayDeque<>();
        private int running;

        private Line(UUID workspace) {
            this.workspace = workspace;
        }

        private boolean waits() {
            return !ofRequests.isEmpty() || !ofRuns.isEmpty();
        }

        private void add(Job<?> job) {
            (job.run == null ? ofRequests : ofRuns).add(job);
        }

        private boolean remove(Job<?> job) {
            return (job.run == null ? ofRequests : ofRuns).remove(job);
        }

        private Job<?> take() {
            return (ofRequests.isEmpty() ? ofRuns : ofRequests).remove();
        }
    }

    private static final class Job<T> extends FutureTask<T> {
        private final Line line;
        private final @Nullable UUID run;

        private Job(Line line, @Nullable UUID run, ScopedValue.CallableOp<T, ? extends Exception> work) {
            super(work::call);
            this.line = line;
            this.run = run;
        }
    }

    /**
     * @param name of the threads
     * @param count the number of threads; with 0 the calling thread computes everything
     * @param budget time that one run computes on this server
     */
    public Computation(String name, int count, Duration budget) {
        this.budget = budget;
        this.share = Math.max(1, count - 1);
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofPlatform().daemon().name(name + "-" + i).stackSize(STACK_BYTES).start(this::work));
        }
    }

    /** Computes on the caller's thread, without budgets: for a process with one user. */
    public static Computation direct() {
        return new Computation("direct", 0, Duration.ZERO);
    }

    /**
     * Computes and returns the result. An interrupt of the caller interrupts the work.
     *
     * @param owner asked for only where the work is handed to another thread
     * @throws SpentException when the run's budget is spent
     */
    public <T, X extends Exception> T run(Supplier<Owner> owner, ScopedValue.CallableOp<T, X> work)
            throws X, InterruptedException {
        if (threads.isEmpty()) {
            return work.call();
        }
        Job<T> job = submit(owner.get(), work);
        try {
            return job.get();
        } catch (InterruptedException e) {
            cancel(job);
            throw e;
        } catch (CancellationException e) {
            throw new InterruptedException("the server is stopping");
        } catch (ExecutionException e) {
            throw Computation.<X>thrown(Objects.requireNonNull(e.getCause()));
        }
    }

    /** The exception of the work, which is an X or unchecked. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the job throws nothing else
    private static <X extends Exception> X thrown(Throwable cause) {
        if (cause instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return (X) cause;
    }

    private <T> Job<T> submit(Owner owner, ScopedValue.CallableOp<T, ? extends Exception> work) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the server is stopping");
            }
            Line line = lines.computeIfAbsent(owner.workspace(), Line::new);
            Job<T> job = new Job<>(line, owner.run(), () -> {
                check(owner.run());
                return work.call();
            });
            if (!line.waits()) {
                turns.add(line);
            }
            line.add(job);
            changed.signal();
            return job;
        } finally {
            lock.unlock();
        }
    }

    private void cancel(Job<?> job) {
        job.cancel(true);
        lock.lock();
        try {
            if (job.line.remove(job) && !job.line.waits()) {
                turns.remove(job.line);
                forget(job.line);
            }
        } finally {
            lock.unlock();
        }
    }

    private void work() {
        for (Job<?> job = take(); job != null; job = take()) {
            long start = System.nanoTime();
            try {
                job.run();
            } finally {
                // An interrupt that came for the job when it had just ended is not for the next one.
                Thread.interrupted();
                done(job, System.nanoTime() - start);
            }
        }
    }

    private @Nullable Job<?> take() {
        lock.lock();
        try {
            Job<?> job = next();
            while (job == null && !closed) {
                changed.awaitUninterruptibly();
                job = next();
            }
            return job;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Job<?> next() {
        for (Iterator<Line> each = turns.iterator(); each.hasNext();) {
            Line line = each.next();
            if (line.running < share) {
                each.remove();
                Job<?> job = line.take();
                if (line.waits()) {
                    turns.addLast(line);
                }
                line.running++;
                return job;
            }
        }
        return null;
    }

    private void done(Job<?> job, long nanos) {
        lock.lock();
        try {
            if (job.run != null) {
                spent.merge(job.run, nanos, Long::sum);
            }
            job.line.running--;
            forget(job.line);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private void forget(Line line) {
        if (line.running == 0 && !line.waits()) {
            lines.remove(line.workspace, line);
        }
    }

    /** @throws SpentException when the run may compute no more */
    private void check(@Nullable UUID run) {
        lock.lock();
        try {
            if (run != null && spent.getOrDefault(run, 0L) > budget.toNanos()) {
                throw new SpentException(budget);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Interrupts running computations and cancels waiting ones. */
    @Override
    public void close() {
        List<Job<?>> left = new ArrayList<>();
        lock.lock();
        try {
            closed = true;
            turns.forEach(line -> {
                left.addAll(line.ofRequests);
                left.addAll(line.ofRuns);
            });
            turns.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        left.forEach(job -> job.cancel(false));
        threads.forEach(Thread::interrupt);
    }
}
