package io.keelson.server.engine.commit;

import io.keelson.core.run.Command;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The commands that wait for a commit, shared by all committing threads. A run is in one commit at a time: a commit
 * takes its commands in the order of their submission, and later ones wait until {@link #release}. Runs take turns.
 * Thread-safe. {@link BatchPolicy} decides when a commit begins.
 */
final class CommandQueue {
    private static final int YIELDS = 100;

    private final int maxUnanswered;
    private final long maxText;
    private final Function<Command, BatchPolicy.Kind> kinds;
    private final Map<UUID, Waiting> runs = new HashMap<>();
    /** Runs by the kind of their first command. */
    private final Map<BatchPolicy.Kind, Line> lines = new EnumMap<>(BatchPolicy.Kind.class);
    /** Sleeping threads, the latest first: caches have its memory, and the memory of its connection's process. */
    private final Deque<Thread> sleeping = new ArrayDeque<>();
    /** True while a thread looks for commands. No other thread is woken then. */
    private boolean looking;
    private int unanswered;
    private long text;
    private boolean closed;

    /** Runs with commands, and the commits of such runs. */
    private static final class Line {
        /** Runs in no commit, in the order of their turns. */
        private final Deque<Waiting> turns = new ArrayDeque<>();
        /** The number of commands of the runs in {@link #turns}. */
        private final AtomicInteger ready = new AtomicInteger();
        private final AtomicInteger commits = new AtomicInteger();
        /** The number of commits of other lines that have begun while runs waited in this one. */
        private final AtomicInteger passed = new AtomicInteger();

        private void add(Waiting run) {
            run.line = this;
            turns.add(run);
            ready.addAndGet(run.commands.size());
        }

        private BatchPolicy.Line state() {
            return new BatchPolicy.Line(ready.get(), commits.get(), passed.get());
        }

        /** Begins a commit. */
        private List<PendingCommand> take() {
            List<PendingCommand> batch = new ArrayList<>();
            int enough = BatchPolicy.enough(ready.get());
            while (!turns.isEmpty() && batch.size() < enough) {
                Waiting run = turns.remove();
                run.inCommit = true;
                ready.addAndGet(-run.commands.size());
                while (!run.commands.isEmpty() && batch.size() < BatchPolicy.MAX_BATCH) {
                    batch.add(run.commands.remove());
                }
            }
            commits.incrementAndGet();
            passed.set(0);
            return batch;
        }

        /** A commit of another line begins. */
        private void pass() {
            if (ready.get() > 0) {
                passed.incrementAndGet();
            }
        }
    }

    /** Commands of one run. */
    private static final class Waiting {
        private final Deque<PendingCommand> commands = new ArrayDeque<>();
        private Line line;
        private boolean inCommit;

        private Waiting(Line line) {
            this.line = line;
        }
    }

    /**
     * @param maxUnanswered maximum number of unanswered commands
     * @param maxText their maximum text together, in characters
     * @param kinds the line of a command whose run is in no commit. A wrong answer costs time only
     */
    CommandQueue(int maxUnanswered, long maxText, Function<Command, BatchPolicy.Kind> kinds) {
        this.maxUnanswered = maxUnanswered;
        this.maxText = maxText;
        this.kinds = kinds;
        for (BatchPolicy.Kind kind : BatchPolicy.Kind.values()) {
            lines.put(kind, new Line());
        }
    }

    /**
     * Queues the command within the limits. An empty queue accepts one command of any size.
     *
     * @return false over a limit, or when the queue is closed
     */
    synchronized boolean offer(PendingCommand pending) {
        boolean room = unanswered < maxUnanswered && (unanswered == 0 || text + pending.text <= maxText);
        return room && add(pending);
    }

    /** Queues the command regardless of limits; returns false when the queue is closed. */
    synchronized boolean add(PendingCommand pending) {
        if (closed) {
            return false;
        }
        unanswered++;
        text += pending.text;
        Waiting run = runs.computeIfAbsent(pending.command.runId(), _ -> new Waiting(of(BatchPolicy.Kind.MIDDLE)));
        run.commands.add(pending);
        if (!run.inCommit) {
            if (run.commands.size() == 1) {
                line(pending).add(run);
            } else {
                run.line.ready.incrementAndGet();
            }
            wakeIfWorth();
        }
        return true;
    }

    /** Refuses further commands. */
    synchronized void close() {
        closed = true;
        while (!sleeping.isEmpty()) {
            LockSupport.unpark(sleeping.remove());
        }
    }

    /**
     * Waits until a commit is due, and takes its commands. Their runs are in no other commit until {@link #release}.
     *
     * @return empty when the queue is closed and other threads commit the remaining commands
     */
    List<PendingCommand> take() throws InterruptedException {
        do {
            if (beginLooking()) {
                gather();
                List<PendingCommand> batch = endLooking();
                if (!batch.isEmpty()) {
                    return batch;
                }
            }
        } while (awaitCommands());
        return List.of();
    }

    /** These commands no longer count for the limits: they are about to be answered. */
    synchronized void answered(List<PendingCommand> batch) {
        unanswered -= batch.size();
        batch.forEach(pending -> text -= pending.text);
    }

    /** Ends the commit of these commands. Call it after the answers, so that a run's answers keep their order. */
    synchronized void release(List<PendingCommand> batch) {
        Set<UUID> released = new HashSet<>();
        Objects.requireNonNull(runs.get(batch.getFirst().command.runId())).line.commits.decrementAndGet();
        batch.forEach(pending -> released.add(pending.command.runId()));
        for (UUID id : released) {
            Waiting run = Objects.requireNonNull(runs.get(id));
            run.inCommit = false;
            if (run.commands.isEmpty()) {
                runs.remove(id);
            } else {
                line(run.commands.getFirst()).add(run);
            }
        }
    }

    private Line line(PendingCommand pending) {
        return of(kinds.apply(pending.command));
    }

    private Line of(BatchPolicy.Kind kind) {
        return Objects.requireNonNull(lines.get(kind));
    }

    private BatchPolicy.@Nullable Kind next() {
        return BatchPolicy.next(new BatchPolicy.Lines(of(BatchPolicy.Kind.BEGIN).state(),
                of(BatchPolicy.Kind.END).state(), of(BatchPolicy.Kind.MIDDLE).state()));
    }

    private boolean worthCommit() {
        return next() != null;
    }

    private int ready() {
        int ready = 0;
        for (Line line : lines.values()) {
            ready += line.ready.get();
        }
        return ready;
    }

    private synchronized boolean beginLooking() {
        boolean begins = !looking;
        looking = true;
        return begins;
    }

    /**
     * Waits while more commands arrive: after a commit its replies cause new commands at once, and a commit of the first
     * few would delay the others. They arrive within microseconds, sooner than a parked thread wakes. A single command
     * yields once.
     */
    @SuppressWarnings("ThreadPriorityCheck") // it yields to the threads that have just got their replies
    private void gather() {
        for (int waited = 0; waited < YIELDS && !worthCommit(); waited++) {
            Thread.yield();
        }
        int before;
        do {
            before = ready();
            Thread.yield();
        } while (ready() > before && before < BatchPolicy.MAX_BATCH);
    }

    private synchronized List<PendingCommand> endLooking() {
        BatchPolicy.Kind next = next();
        List<PendingCommand> batch = next == null ? List.of() : of(next).take();
        lines.forEach((kind, line) -> {
            if (next != null && kind != next) {
                line.pass();
            }
        });
        looking = false;
        wakeIfWorth();
        return batch;
    }

    private void wakeIfWorth() {
        if (!looking && !sleeping.isEmpty() && worthCommit()) {
            LockSupport.unpark(sleeping.pop());
        }
    }

    /** Sleeps until this thread should look; false when the queue is closed and there is nothing for this thread. */
    private boolean awaitCommands() throws InterruptedException {
        Thread self = Thread.currentThread();
        while (true) {
            synchronized (this) {
                // An unpark may be left from an earlier sleep.
                sleeping.remove(self);
                if (closed || !looking && worthCommit()) {
                    return !looking && worthCommit();
                }
                sleeping.push(self);
            }
            LockSupport.park(this);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }
}
