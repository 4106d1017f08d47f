package io.keelson.server.engine.execute;

import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Report;
import io.keelson.core.run.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The reports of a chain: consecutive steps of a lane that one execution carries out. The results of the first moments have one
 * report, which the end of the chain submits if it comes in time. After that time, or with much text, each result is reported as
 * soon as the report before it is committed. One report is under way at a time.
 *
 * <p>The lease of one step is recorded: of the first one, and after each commit of the step behind the last reported one.
 * Thread-safe.
 */
public final class ChainReports {
    /** Characters of unreported outputs with which a report is due. */
    private static final long MUCH_TEXT = 256 * 1024;

    private final List<StepExecution> steps;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final Actor actor;
    private final Runnable onLost;
    private final List<Report> waiting = new ArrayList<>();
    private long text;
    /** The report under way; null if absent. */
    private @Nullable CompletableFuture<Boolean> underWay;
    /** The step that begins with the commit of the report under way; null if absent. */
    private @Nullable StepExecution next;
    private StepExecution recorded;
    /** To be submitted with the first report; null if it was submitted, or the first step has been claimed before. */
    private @Nullable Opening opening;
    private boolean opened;
    private boolean eager;
    private boolean ending;
    private boolean lost;

    /** The commit that must precede all reports: it creates the run of the chain, or claims the first step. */
    public interface Opening {

        /**
         * Creates or claims, and records the report in one commit.
         *
         * @param report null if no step has ended
         * @return the reply to the report, or to the creation or claim if there is no report; {@link Reply#UNCHANGED} if they are not
         *         committed. Never completes exceptionally
         */
        CompletableFuture<Reply> commit(@Nullable Command report);

        /** The execution ends without a report, and {@link #commit} was not called. */
        void abandon();
    }

    /**
     * @param steps of the chain, the claimed one first
     * @param opening null if the first step has been claimed
     * @param onLost stops the execution, whose lane has another holder, or none; called at most once
     */
    ChainReports(List<StepExecution> steps, @Nullable Opening opening,
            Function<Command, CompletableFuture<Reply>> commands, Actor actor, Runnable onLost) {
        this.opening = opening;
        this.opened = opening == null;
        this.steps = List.copyOf(steps);
        this.commands = commands;
        this.actor = actor;
        this.onLost = onLost;
        this.recorded = steps.getFirst();
    }

    /** The step whose lease is recorded. */
    synchronized StepExecution recorded() {
        return recorded;
    }

    /** False until the commit that begins the first step has been answered. */
    synchronized boolean isOpened() {
        return opened;
    }

    /** Receives a step that a commit has begun for this node; false if this chain does not continue with it. */
    synchronized boolean continuesWith(StepExecution begun) {
        if (lost || next == null || !next.sameLease(begun)) {
            return false;
        }
        recorded = next;
        next = null;
        opened = true;
        return true;
    }

    /** The first moments are over: from now on each result is reported as soon as possible. */
    void becomeEager() {
        synchronized (this) {
            eager = true;
        }
        reportIfDue();
    }

    /** Creates the run or claims the first step, unless that was done. The results so far have a later report. */
    void open() {
        CompletableFuture<Boolean> report = new CompletableFuture<>();
        synchronized (this) {
            if (opening == null || ending || underWay != null) {
                return;
            }
            underWay = report;
            next = steps.getFirst();
        }
        submit(List.of(), report);
    }

    /** Creates the run or claims the first step, and waits for the commit; false if the lane is lost. */
    boolean awaitOpening() {
        open();
        awaitReports();
        synchronized (this) {
            return !lost;
        }
    }

    /** Adds the result of a step; waits while there is much unreported text and a report under way. */
    void add(Command.Complete result) {
        synchronized (this) {
            waiting.add(result);
            text += result.result().output().length();
        }
        reportIfDue();
        if (muchText()) {
            awaitReports();
            reportIfDue();
        }
    }

    /** Reports all results so far and waits for the commit; false if the step at work has no lease. */
    boolean record() {
        while (true) {
            awaitReports();
            submitWaiting(true);
            synchronized (this) {
                if (lost || waiting.isEmpty() && underWay == null && opening == null) {
                    return !lost;
                }
            }
        }
    }

    /**
     * Reports the end of the chain behind its results.
     *
     * @param yields whether the lane goes behind waiting work of others
     * @param onReply called before the next step of the lane begins here
     * @throws CompletionException if the report was not committed, or its outcome is unknown
     */
    void end(Report last, boolean yields, Runnable onReply) {
        synchronized (this) {
            ending = true;
        }
        awaitReports();
        List<Report> reports;
        synchronized (this) {
            if (lost) {
                return;
            }
            waiting.add(last);
            reports = List.copyOf(waiting);
            waiting.clear();
        }
        commit(reports, yields).exceptionallyCompose(failure -> reports.size() == 1
                ? CompletableFuture.failedFuture(failure)
                : oneByOne(reports, true)).whenComplete((taken, failure) -> onReply.run()).join();
    }

    private synchronized boolean muchText() {
        return text >= MUCH_TEXT;
    }

    private synchronized @Nullable CompletableFuture<Boolean> underWay() {
        return underWay;
    }

    private void awaitReports() {
        for (CompletableFuture<Boolean> report = underWay(); report != null; report = underWay()) {
            report.join();
        }
    }

    private void reportIfDue() {
        submitWaiting(false);
    }

    /** Submits the waiting results unless there are none, or one report is under way. */
    private void submitWaiting(boolean now) {
        List<Report> reports;
        CompletableFuture<Boolean> report = new CompletableFuture<>();
        synchronized (this) {
            if (lost || ending || underWay != null || waiting.isEmpty() && opening == null
                    || !now && !eager && text < MUCH_TEXT) {
                return;
            }
            reports = List.copyOf(waiting);
            waiting.clear();
            text = 0;
            underWay = report;
            next = reports.isEmpty() ? steps.getFirst() : after(reports.getLast());
        }
        submit(reports, report);
    }

    private void submit(List<Report> reports, CompletableFuture<Boolean> report) {
        commit(reports, false).exceptionallyCompose(failure -> reports.size() == 1
                ? CompletableFuture.completedFuture(false)
                : oneByOne(reports, false)).exceptionally(failure -> false)
                .thenAccept(taken -> reported(report, taken));
    }

    /** The execution has ended. */
    void close() {
        Opening first = takeOpening();
        if (first != null) {
            first.abandon();
        }
    }

    /** The report is committed, or refused. Without the next step the lane is lost. */
    private void reported(CompletableFuture<Boolean> report, boolean taken) {
        boolean continues;
        synchronized (this) {
            continues = taken && next == null;
            lost = !continues;
            underWay = null;
        }
        if (continues) {
            reportIfDue();
        } else {
            onLost.run();
        }
        report.complete(continues);
    }

    private StepExecution after(Report report) {
        for (int i = 0; i < steps.size() - 1; i++) {
            if (steps.get(i).stepId().equals(report.stepId())) {
                return steps.get(i + 1);
            }
        }
        throw new IllegalArgumentException("the chain ends with step " + report.stepId());
    }

    /**
     * Submits the reports together, with the creation or claim if need be. Completes with whether all are recorded. Without reports
     * that is so: another command, such as a resume, may have begun the first step for this node before the claim.
     */
    private CompletableFuture<Boolean> commit(List<Report> reports, boolean yields) {
        Command command = reports.isEmpty() ? null
                : reports.size() == 1 && !yields ? reports.getFirst()
                        : new Command.CompleteChain(reports.getFirst().runId(), reports, yields, actor);
        Opening first = takeOpening();
        return (first != null ? first.commit(command) : commands.apply(Objects.requireNonNull(command)))
                .thenApply(reply -> reports.isEmpty() || isTaken(reply, reports.size()));
    }

    private synchronized @Nullable Opening takeOpening() {
        Opening first = opening;
        opening = null;
        return first;
    }

    private static boolean isTaken(Reply reply, int reports) {
        return switch (reply) {
            case Reply.Done done -> done.changed();
            case Reply.Claimed _,Reply.Duplicate _ -> true;
            case Reply.Taken taken -> taken.reports() == reports;
            case Reply.Metered _,Reply.Paid _,Reply.Rejected _ -> false;
        };
    }

    /**
     * Submits the reports of a refused command again, each in a commit of its own: the database may refuse one of them.
     *
     * @param last whether the chain ends with them
     */
    private CompletableFuture<Boolean> oneByOne(List<Report> reports, boolean last) {
        Report first = reports.getFirst();
        List<Report> others = reports.subList(1, reports.size());
        synchronized (this) {
            next = others.isEmpty() && last ? null : after(first);
        }
        return commit(List.of(first), false).thenCompose(taken -> {
            boolean begun;
            synchronized (this) {
                begun = next == null;
            }
            return !taken || !begun || others.isEmpty() ? CompletableFuture.completedFuture(taken && begun)
                    : oneByOne(others, last);
        });
    }
}
