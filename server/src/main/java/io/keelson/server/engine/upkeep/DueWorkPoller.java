package io.keelson.server.engine.upkeep;

import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.db.TxFunction;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.run.RunStore;
import io.keelson.server.run.RunStore.Due;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Asks the database whether anything wants to be done and has it done: one statement, once a second and at the moment
 * when the next lease ends, is all that an idle node polls. The connection is its own, as a pool proves each one that
 * has been idle by a statement more; other small questions that are asked again and again go by it, too.
 */
public final class DueWorkPoller implements AutoCloseable {
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);
    private static final Duration RETRY_DELAY = Duration.ofMillis(100);
    /** So that not all nodes go for the same lease at the same moment. */
    private static final long SPREAD_MS = 200;

    private final Database database;
    private final RunStore store;
    private final Reconciler reconciler;
    private final WorkAvailability available;
    private final ConcurrencyKeyScheduler concurrencyKeyScheduler;
    private @Nullable Connection connection;
    private volatile Runnable schedules = () -> {
    };
    private volatile Runnable webhooks = () -> {
    };
    private volatile Runnable commands = () -> {
    };

    public DueWorkPoller(Database database, RunStore store, Reconciler reconciler, WorkAvailability available,
            ConcurrencyKeyScheduler concurrencyKeyScheduler) {
        this.database = database;
        this.store = store;
        this.reconciler = reconciler;
        this.available = available;
        this.concurrencyKeyScheduler = concurrencyKeyScheduler;
    }

    /** @param act what is done when a schedule is due; returns at once */
    public void onSchedules(Runnable act) {
        schedules = act;
    }

    /** @param act what is done when deliveries to receivers of events wait; returns at once */
    public void onWebhooks(Runnable act) {
        webhooks = act;
    }

    /** @param act what is done when a command is due; returns at once */
    public void onCommands(Runnable act) {
        commands = act;
    }

    /**
     * Looks, and returns when what was due has been acted upon.
     *
     * @return how long until the next look: at once again where a lease had ended, for another node may be putting that work in
     *         the queue at this moment
     * @throws SqlFailure where the database cannot be asked; the next look connects anew
     */
    Duration look() {
        Due due = ask(store::due);
        if (due.ready()) {
            available.signal();
        }
        if (due.turns()) {
            concurrencyKeyScheduler.nudge();
        }
        if (due.schedules()) {
            schedules.run();
        }
        if (due.webhooks()) {
            webhooks.run();
        }
        if (due.commands()) {
            commands.run();
        }
        if (due.timers()) {
            reconciler.dueTimers();
        }
        if (due.lapsed() && reconciler.expiredLeases() > 0) {
            return RETRY_DELAY;
        }
        return pause(due.nextLease());
    }

    private static Duration pause(@Nullable Duration nextLease) {
        if (nextLease == null || nextLease.compareTo(POLL_INTERVAL) >= 0) {
            return POLL_INTERVAL;
        }
        return nextLease.plusMillis(ThreadLocalRandom.current().nextLong(1, SPREAD_MS));
    }

    /**
     * Asks something small, where every statement commits by itself. One after the other: nobody waits here for a lock.
     *
     * @throws SqlFailure where the database cannot be asked; the next one who asks connects anew
     */
    synchronized <T extends @Nullable Object> T ask(TxFunction<T> question) {
        try {
            if (connection == null) {
                connection = database.dedicatedConnection();
            }
            return question.apply(connection);
        } catch (SQLException e) {
            close();
            throw new SqlFailure(e);
        }
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
