package io.keelson.server.engine.upkeep;

import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.RunStore.Due;
import io.keelson.server.engine.store.read.FeedWatermark;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the database for due work and starts it. An idle node polls with one statement, once a second and when the next
 * lease ends. The connection is its own, because a pool tests each idle one with a statement; other small periodic
 * queries use it, too.
 */
public final class DueWorkPoller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DueWorkPoller.class);
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);
    private static final Duration RETRY_DELAY = Duration.ofMillis(100);
    /** From one reading of the settings' mark to the next: at most 5 seconds with the interval of polls. */
    private static final Duration SETTINGS_INTERVAL = Duration.ofSeconds(4);
    /** A shorter time without an answer is a lost connection. */
    private static final Duration OUTAGE = Duration.ofSeconds(3);
    /**
     * Time in which nodes extend their leases and report outcomes after an outage, before other nodes find their leases ended: a node
     * may still wait for a connection that the outage has broken.
     */
    private static final Duration REPORT_TIME = DatabaseOptions.DEFAULTS.connectTimeout().plusSeconds(2);
    /** Spreads nodes that wait for the same lease. */
    private static final long SPREAD_MS = 200;

    /** Due work that other packages start. */
    public enum Kind {
        SCHEDULES, WEBHOOKS, COMMANDS
    }

    private final Database database;
    private final RunStore store;
    private final Reconciler reconciler;
    private final WorkAvailability available;
    private final ConcurrencyKeyScheduler concurrencyKeyScheduler;
    private final List<Observer> observers;
    private final DatabaseHistory history;
    private final PeerWatch watch;
    private final LongSupplier nanoTime;
    private FeedWatermark events = new FeedWatermark();
    private @Nullable Connection connection;
    private boolean failed;
    private long answeredAt;
    private long reportsUntil;
    private volatile Runnable onReturn = () -> {};
    private volatile Consumer<String> onSettings = mark -> {};
    /** The last reading of the settings' mark, by the monotonic clock; null before the first one. */
    private @Nullable Long settingsAt;

    /**
     * @param history starts nothing while the database lacks commits
     * @param nanoTime monotonic time
     */
    public DueWorkPoller(Database database, RunStore store, Reconciler reconciler, WorkAvailability available,
            ConcurrencyKeyScheduler concurrencyKeyScheduler, List<Observer> observers, DatabaseHistory history,
            LongSupplier nanoTime) {
        this.history = history;
        this.nanoTime = nanoTime;
        this.watch = new PeerWatch(database);
        this.answeredAt = nanoTime.getAsLong();
        this.reportsUntil = answeredAt;
        this.database = database;
        this.store = store;
        this.reconciler = reconciler;
        this.available = available;
        this.concurrencyKeyScheduler = concurrencyKeyScheduler;
        this.observers = observers;
    }

    /** Sets the listener that is called when the database answers after an outage. It must return at once. */
    void onReturn(Runnable listener) {
        onReturn = listener;
    }

    /** Sets the listener that gets the settings' mark, another text after each change. It must return at once. */
    void onSettings(Consumer<String> listener) {
        onSettings = listener;
    }

    /**
     * Polls, and returns when due work was handled.
     *
     * @param actions start due work of these kinds; each must return at once
     * @return delay until the next poll: zero after an expired lease, because another node may be queueing that work
     *         now
     * @throws SqlFailure when the database is unreachable; the next poll reconnects
     */
    Duration look(Map<Kind, Runnable> actions) {
        Due due = due();
        if (due.settings() != null) {
            onSettings.accept(due.settings());
        }
        if (due.wentBack() != history.wentBack()) {
            readLosses();
        }
        if (history.wentBack()) {
            return POLL_INTERVAL;
        }
        if (due.ready()) {
            available.signal();
        }
        if (due.turns()) {
            concurrencyKeyScheduler.signal();
        }
        boolean reports = nanoTime.getAsLong() - reportsUntil < 0;
        actions.forEach((kind, action) -> {
            if (due(due, kind) && !(reports && kind == Kind.COMMANDS)) {
                action.run();
            }
        });
        if (due.timers()) {
            reconciler.dueTimers();
        }
        boolean expired = due.lapsed() && !reports && reconciler.expiredLeases() > 0;
        if (due.events()) {
            query(c -> events.publish(c));
            observers.forEach(Observer::eventsFound);
        }
        return expired ? RETRY_DELAY : pause(due.nextLease());
    }

    /** Reads the due work; observers receive whether the database answered, not whether the work can be done. */
    private Due due() {
        boolean answered = false;
        try {
            long now = nanoTime.getAsLong();
            boolean settings = settingsAt == null || now - settingsAt >= SETTINGS_INTERVAL.toNanos();
            Due due = query(c -> store.due(c, settings));
            answered = true;
            settingsAt = settings ? Long.valueOf(now) : settingsAt;
            recordAnswer();
            return due;
        } finally {
            failed = !answered;
            for (Observer observer : observers) {
                observer.database(answered);
            }
        }
    }

    private void recordAnswer() {
        long now = nanoTime.getAsLong();
        if (failed) {
            LOG.info("connected again to the database, {} ms after its last answer: {}",
                    TimeUnit.NANOSECONDS.toMillis(now - answeredAt), watch.server());
        }
        if (failed && now - answeredAt > OUTAGE.toNanos()) {
            reportsUntil = now + REPORT_TIME.toNanos();
            onReturn.run();
        }
        answeredAt = now;
    }

    private static boolean due(Due due, Kind kind) {
        return switch (kind) {
            case SCHEDULES -> due.schedules();
            case WEBHOOKS -> due.webhooks();
            case COMMANDS -> due.commands();
        };
    }

    private static Duration pause(@Nullable Duration nextLease) {
        if (nextLease == null || nextLease.compareTo(POLL_INTERVAL) >= 0) {
            return POLL_INTERVAL;
        }
        return nextLease.plusMillis(ThreadLocalRandom.current().nextLong(1, SPREAD_MS));
    }

    /** Handles running runs whose tasks have all ended. */
    void stuckJoins() {
        reconciler.stuckJoins(this::query);
    }

    /** Reads the records of a database that went back. */
    void readLosses() {
        this.<@Nullable Object>query(c -> {
            history.refresh(c);
            return null;
        });
    }

    /** Forgets the settled ids: the database went back. */
    public synchronized void forget() {
        events = new FeedWatermark();
    }

    /**
     * Runs a small query with auto-commit, one at a time; such queries wait for no locks.
     *
     * @throws SqlFailure when the database is unreachable; the next call reconnects
     */
    synchronized <T extends @Nullable Object> T query(TxFunction<T> query) {
        try {
            if (connection == null) {
                connection = database.dedicatedConnection();
                watch.open(connection);
            }
            watch.begin();
            return query.apply(connection);
        } catch (SQLException e) {
            close();
            throw new SqlFailure(e);
        } finally {
            watch.end();
        }
    }

    /** Watches its statements. */
    BackgroundTask watch() {
        return watch.task();
    }

    @Override
    public synchronized void close() {
        try (Connection _ = connection) {
            connection = null;
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }
}
