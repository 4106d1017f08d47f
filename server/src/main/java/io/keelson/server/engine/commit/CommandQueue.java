package io.keelson.server.engine.commit;

import io.keelson.core.run.Command;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * The commands that wait for a commit, shared by all committing threads. A run is in one commit at a time: a commit
 * takes its commands in the order of their submission, and later ones wait until {@link #release}. Runs take turns.
 * Thread-safe.
 *
 * <p>Commands that begin or end tasks have commits apart from the others. Such a commit has some thirty statements, a commit
 * of the others has four. So the two execute beside each other, and neither repeats the statements of the other.
 */
final class CommandQueue {
    /**
     * The number of commands with which another commit begins beside a running one of the same line. The statements of a
     * commit cost the database more than the rows of a few commands, so fewer commands wait for the next commit.
     */
    static final int WORTH_ANOTHER_COMMIT = 24;
    /** The number of commands on tasks with which their commit begins before the next one on steps. */
    static final int WORTH_COMMIT_ON_TASKS = 8;
    /** The number of commands on steps with which their commit begins beside one on tasks. */
    static final int WORTH_COMMIT_ON_STEPS = 4;

    private static final int MAX_BATCH = 300;
    private static final int YIELDS = 100;

    private final int maxUnanswered;
    private final long maxText;
    private final Predicate<Command> onTask;
    private final Map<UUID, Waiting> runs = new HashMap<>();
    /** Runs whose first command begins or ends a task. */
    private final Line tasks = new Line();
    /** The other runs. */
    private final Line steps = new Line();
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
        /** The number of commits of the other line that have begun while runs waited in this one. */
        private final AtomicInteger passed = new AtomicInteger();

        private void add(Waiting run) {
            run.line = this;
            turns.add(run);
            ready.addAndGet(run.commands.size());
        }

        private boolean worthCommit() {
            return ready.get() >= (commits.get() == 0 ? 1 : WORTH_ANOTHER_COMMIT);
        }

        private boolean idle() {
            return ready.get() + commits.get() == 0;
        }

        /** Begins a commit. */
        private List<PendingCommand> takeBefore(Line other) {
            List<PendingCommand> batch = new ArrayList<>();
            int waiting = ready.get();
            int enough = waiting >= 2 * WORTH_ANOTHER_COMMIT ? Math.min(MAX_BATCH, (waiting + 1) / 2) : MAX_BATCH;
            while (!turns.isEmpty() && batch.size() < enough) {
                Waiting run = turns.remove();
                run.inCommit = true;
                ready.addAndGet(-run.commands.size());
                while (!run.commands.isEmpty() && batch.size() < MAX_BATCH) {
                    batch.add(run.commands.remove());
                }
            }
            commits.incrementAndGet();
            passed.set(0);
            if (other.ready.get() > 0) {
                other.passed.incrementAndGet();
            }
            return batch;
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
     * @param onTask whether a command of a run in no commit begins or ends a task. A wrong answer costs time only
     */
    CommandQueue(int maxUnanswered, long maxText, Predicate<Command> onTask) {
        this.maxUnanswered = maxUnanswered;
        this.maxText = maxText;
        this.onTask = onTask;
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
        Waiting run = runs.computeIfAbsent(pending.command.runId(), _ -> new Waiting(steps));
        run.commands.add(pending);
        if (!run.inCommit) {
            if (run.commands.size() == 1) {
                line(pending).add(run);
            } else {
                run.line.ready.incrementAndGet();
            }
            if (!looking && worthCommit()) {
                notify();
            }
        }
        return true;
    }

    /** Refuses further commands. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /**
     * Waits until a commit is worth it, and takes commands of a line for it: those of half the runs if both halves are worth
     * a commit, so that one half is decided while the database writes the other. The caller has their runs to itself until
     * {@link #release}.
     *
     * @return empty when the queue is closed and other threads commit what is left
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
        return onTask.test(pending.command) ? tasks : steps;
    }

    private boolean worthCommit() {
        return worthCommitOnTasks() || worthCommitOnSteps();
    }

    /** A few commands on steps wait for the end of a commit on tasks, but do not let more than two begin. */
    private boolean worthCommitOnSteps() {
        return steps.worthCommit()
                && (steps.ready.get() >= WORTH_COMMIT_ON_STEPS || steps.passed.get() > 1 || tasks.commits.get() == 0);
    }

    /** A few commands on tasks wait for others while one commit on steps begins. */
    private boolean worthCommitOnTasks() {
        return tasks.worthCommit()
                && (tasks.ready.get() >= WORTH_COMMIT_ON_TASKS || tasks.passed.get() > 0 || steps.idle());
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
            before = tasks.ready.get() + steps.ready.get();
            Thread.yield();
        } while (tasks.ready.get() + steps.ready.get() > before && before < MAX_BATCH);
    }

    private synchronized List<PendingCommand> endLooking() {
        List<PendingCommand> batch = List.of();
        boolean onTasks = worthCommitOnTasks();
        boolean onSteps = worthCommitOnSteps();
        if (onTasks && !(onSteps && steps.passed.get() > tasks.passed.get())) {
            batch = tasks.takeBefore(steps);
        } else if (onSteps) {
            batch = steps.takeBefore(tasks);
        }
        looking = false;
        if (worthCommit()) {
            notify();
        }
        return batch;
    }

    /** Sleeps until this thread should look; false when the queue is closed and there is nothing for this thread. */
    private synchronized boolean awaitCommands() throws InterruptedException {
        while (!closed && (looking || !worthCommit())) {
            wait();
        }
        return !looking && worthCommit();
    }
}
