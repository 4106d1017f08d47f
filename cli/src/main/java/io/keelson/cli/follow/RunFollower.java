package io.keelson.cli.follow;

import io.keelson.api.run.Event;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.view.PendingDecisions;
import io.keelson.cli.view.RunModel;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.KeelsonException;
import io.keelson.client.Page;
import io.keelson.client.Runs;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a model of a run up to date by its events and shows it, until the run ends, waits for a person, or time is up.
 * Can be continued afterwards. Survives restarts of the server.
 */
final class RunFollower {

    /** Why following stopped. */
    enum End {
        RUN_ENDED, WAITS_FOR_HUMAN, TIMED_OUT, INTERRUPTED
    }

    /** Reasons of waits that end with a worker to be started. */
    private static final Set<String> LACKS = Set.of("MISSING_WORKER", "MISSING_VERSION");
    private static final Duration REDRAW = Duration.ofMillis(100);
    private static final Duration IDLE_POLL = Duration.ofMillis(400);
    private static final Duration QUIET = Duration.ofMillis(800);
    /** A run in which nothing happens for so long may lack a worker. */
    private static final Duration STILL = Duration.ofSeconds(5);
    /** An answer that takes longer is missed. */
    private static final Duration SLOW = Duration.ofMillis(1_500);
    private static final Duration AFTER_LOSS = Duration.ofSeconds(1);
    private static final int EVENTS_AT_A_TIME = 500;
    /** Steps are listed to name what runs; for more than these it would cost more than it tells. */
    private static final int MAX_STEPS_NAMED = 2_000;
    /** Lists of so few tasks cost next to nothing. */
    private static final int FEW_TASKS = 50;

    private final ServerConnection server;
    private final String id;
    private final Display display;
    private final Clock clock;
    private final Consumer<String> lacks;
    private final RunModel model;
    private final Set<List<String>> lacking = new HashSet<>();
    /** All that has begun waits for people whom tools ask; the states of its steps do not say so. */
    private boolean questionsOnly;
    private boolean silent;
    private long lastSeq;
    private Instant lastEvent;
    private @Nullable FutureTask<@Nullable Void> looking;
    private Instant lookingSince = Instant.MIN;
    /** Since when the server has not answered; null while it does. */
    private volatile @Nullable Instant lostSince;
    private Instant nextLack;
    private Instant nextPoll = Instant.MIN;
    private Instant nextNaming = Instant.MIN;

    /**
     * @param history whether to report past events, too
     * @param lacks receives, once per tool, a step that waits because no worker serves its tool
     */
    RunFollower(ServerConnection server, Run run, Display display, Clock clock, boolean history,
            Consumer<String> lacks) {
        this.silent = !history;
        this.server = server;
        this.id = run.id();
        this.display = display;
        this.clock = clock;
        this.model = new RunModel(run);
        this.lastEvent = clock.instant();
        this.nextLack = lastEvent.plus(STILL);
        this.lacks = lacks;
    }

    Run run() {
        return model.run();
    }

    /**
     * Reads the run at least once before it concludes that the run waits for a person: since the call before, a person may
     * have answered.
     *
     * @param deadline null if absent
     */
    End until(@Nullable Instant deadline) {
        nextPoll = Instant.MIN;
        boolean current = false;
        while (true) {
            Instant now = clock.instant();
            if (looking == null && !now.isBefore(nextPoll)) {
                looking = new FutureTask<>(() -> look(now));
                lookingSince = now;
                Thread.ofVirtual().name("keelson-follow").start(looking);
            }
            boolean seen = looking == null || seen(looking);
            looking = seen ? null : looking;
            current |= seen && lostSince == null;
            Instant since = lostSince != null ? lostSince : seen ? now : lookingSince;
            Duration silence = Duration.between(since, clock.instant());
            if (lostSince != null) {
                display.unanswered(silence);
            } else if (silence.compareTo(SLOW) > 0) {
                display.slow(silence);
            } else if (seen) {
                display.show(model, clock.instant());
            }
            if (server.interrupted()) {
                return End.INTERRUPTED;
            }
            if (seen && model.run().ended()) {
                return End.RUN_ENDED;
            }
            if (seen && current && !lastEvent.plus(QUIET).isAfter(now) && (questionsOnly || model.waitsForHuman())) {
                return End.WAITS_FOR_HUMAN;
            }
            if (deadline != null && !now.isBefore(deadline)) {
                return End.TIMED_OUT;
            }
            if (seen) {
                Sleep.of(REDRAW);
            }
        }
    }

    /** Waits briefly for the poll; false while it runs and owns the model. */
    private static boolean seen(FutureTask<?> looking) {
        try {
            looking.get(REDRAW.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CliException.failed("INTERRUPTED", "interrupted", e);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException failed -> throw failed;
                case null, default -> throw new IllegalStateException(e);
            }
        }
    }

    /** The decisions that wait for people. */
    PendingDecisions waits() {
        return RunDocuments.waits(server.keelson(), model.run());
    }

    private Runs runs() {
        return server.keelson().runs();
    }

    private @Nullable Void look(Instant now) {
        try {
            boolean news = readEvents();
            lostSince = null;
            if (model.run().ended()) {
                readEvents();
            }
            nextPoll = now.plus(news ? REDRAW : IDLE_POLL);
            if (news) {
                lastEvent = now;
                questionsOnly = false;
                nextLack = now.plus(STILL);
            } else if (!now.isBefore(nextLack)) {
                nextLack = now.plus(Duration.between(lastEvent, now));
                tellWhatLacks();
            }
        } catch (KeelsonException e) {
            if (server.interrupted()) {
                return null;
            }
            if (!e.isTransient()) {
                throw e;
            }
            if (lostSince == null) {
                lostSince = now;
            }
            nextPoll = clock.instant().plus(AFTER_LOSS);
            server.reopen();
        }
        return null;
    }

    /** The run's document holds its whole plan, so it is read again only when the run itself has changed. */
    private boolean readEvents() {
        boolean news = false;
        Page<Event> page;
        do {
            page = runs().events(id, lastSeq, EVENTS_AT_A_TIME);
            page.items().forEach(model::apply);
            if (page.items().stream().anyMatch(event -> event.eventType().startsWith("run_"))) {
                model.run(runs().get(id));
            }
            if (!page.items().isEmpty()) {
                lastSeq = page.items().getLast().seq();
                news = true;
            }
            name(page.nextCursor() == null);
            if (!silent) {
                display.happened(page.items(), model);
            }
        } while (page.nextCursor() != null);
        silent = false;
        return news;
    }

    /** Asked the more rarely, the longer nothing happens: it reads the whole run. */
    private void tellWhatLacks() {
        List<Explanation.Reason> reasons = runs().explain(id).reasons();
        questionsOnly = !reasons.isEmpty() && reasons.stream().allMatch(reason -> reason.code().equals("QUESTION"));
        reasons.stream()
                .filter(reason -> LACKS.contains(reason.code()) && lacking.add(reason.on()))
                .forEach(reason -> lacks.accept(TerminalText.clean(reason.text())));
    }

    /** Lists are read as often as they are cheap: the more tasks, the more rarely. */
    private void name(boolean caughtUp) {
        Instant begin = clock.instant();
        boolean due =
                (caughtUp || model.size() == 0)
                        && (!begin.isBefore(nextNaming) || model.run().ended() || model.waitsForAnswer()
                                || model.run().taskCount() <= FEW_TASKS);
        if (!model.unnamed() || !due) {
            return;
        }
        List<Step> steps = model.run().stepsTotal() > MAX_STEPS_NAMED ? List.of() : runs().steps(id);
        model.name(runs().tasks(id), steps);
        for (int attempt = model.run().attemptNumber(); attempt > 0 && model.lacksNames(); attempt--) {
            model.nameFormer(runs().tasks(id, attempt),
                    model.run().stepsTotal() > MAX_STEPS_NAMED ? List.of() : runs().steps(id, attempt));
        }
        Duration cost = Duration.between(begin, clock.instant());
        nextNaming = clock.instant().plus(cost.multipliedBy(4));
    }
}
