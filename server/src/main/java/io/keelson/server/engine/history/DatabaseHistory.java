package io.keelson.server.engine.history;

import io.keelson.api.tenant.DatabaseLoss;
import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.RunRow;
import io.keelson.core.run.Event;
import io.keelson.core.run.Ids;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.store.read.KnownEvents;
import io.keelson.server.engine.store.read.KnownEvents.Known;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers an event of each of the latest commits, and compares them with the database: soon after a connection was lost,
 * and once a second while there are new events. If the database lacks them, this server records the loss in the
 * database, and all servers claim no work and refuse changes until an operator accepts it. An idle server sends no query.
 * Thread-safe.
 */
public final class DatabaseHistory implements Observer {
    private static final Logger LOG = LoggerFactory.getLogger(DatabaseHistory.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** Maximum number of remembered commits; {@link #before} comes on top. */
    private static final int MAX_KNOWN = 1_024;
    /** Number of compared commits while none is gone: a loss takes the latest ones first. */
    private static final int COMPARED = 32;
    /** Number of latest commits to read, as other servers have commits, too. */
    private static final int READ = 8;

    /** An event without its id, which is not always known. */
    private record Place(UUID runId, long seq, Instant at) {

        static Place of(Known event) {
            return new Place(event.runId(), event.seq(), event.at());
        }
    }

    private final Database database;
    private final String node;
    private final Ids ids;
    private final BackgroundTask task = BackgroundTask.every("database-history", PERIOD, this::look);
    private final ReentrantLock looking = new ReentrantLock();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    /** The oldest first. */
    private final Deque<Known> known = new ArrayDeque<>();
    /** Commits before a lost connection, until they are compared. */
    private List<Known> before = List.of();
    private boolean more;
    private boolean suspected;
    private long settled = Long.MAX_VALUE;
    private volatile @Nullable DatabaseLoss loss;
    private volatile boolean recorded;

    /** @param node this server's name */
    public DatabaseHistory(Database database, String node, Ids ids) {
        this.database = database;
        this.node = node;
        this.ids = ids;
    }

    /** Adds a listener, which is called when the database went back and when that is accepted. It must return soon. */
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    /** The loss that is not accepted; null if absent. */
    public @Nullable DatabaseLoss loss() {
        return loss;
    }

    /** Whether the database went back and no operator has accepted it. */
    public boolean wentBack() {
        return loss != null;
    }

    public BackgroundTask task() {
        return task;
    }

    @Override
    public void committed(ChangeSet changes, Instant now) {
        if (changes.events().isEmpty()) {
            return;
        }
        Event event = changes.events().getFirst();
        for (RunRow run : changes.runs()) {
            if (run.id().equals(event.runId())) {
                add(new Known(run.workspaceId(), run.id(), event.seq(), event.at().truncatedTo(ChronoUnit.MICROS), 0));
                return;
            }
        }
    }

    private synchronized void add(Known event) {
        known.addLast(event);
        if (known.size() > MAX_KNOWN) {
            known.removeFirst();
        }
        more = true;
    }

    @Override
    public synchronized void eventsFound() {
        more = true;
    }

    @Override
    public void connectionLost() {
        synchronized (this) {
            suspected = true;
            before = all();
        }
        task.nudge();
    }

    @Override
    public void database(boolean answers) {
        if (!answers) {
            connectionLost();
        }
    }

    private synchronized List<Known> all() {
        Map<Place, Known> all = new LinkedHashMap<>();
        before.forEach(each -> all.put(Place.of(each), each));
        known.forEach(each -> all.put(Place.of(each), each));
        return all.values().stream().skip(Math.max(0, all.size() - 2 * MAX_KNOWN)).toList();
    }

    /**
     * Compares if there is a reason.
     *
     * @throws SqlFailure when the database is unreachable; the next call compares
     */
    void look() {
        looking.lock();
        try {
            lookAlone();
        } finally {
            looking.unlock();
        }
    }

    private void lookAlone() {
        boolean afresh;
        synchronized (this) {
            if (!suspected && !more && (loss == null || recorded)) {
                return;
            }
            afresh = suspected;
            suspected = false;
            more = false;
        }
        boolean compared = false;
        try {
            compared = afresh ? onNewConnection() : database.withConnection(this::compare);
        } catch (SqlFailure e) {
            if (!e.unavailable()) {
                throw e;
            }
            LOG.debug("the database cannot be compared yet", e);
        } finally {
            if (!compared) {
                synchronized (this) {
                    suspected = true;
                }
            }
        }
    }

    /** The pool may wait for long until it tries to connect again. */
    private boolean onNewConnection() {
        try (Connection connection = database.dedicatedConnection()) {
            return compare(connection);
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    /** False at a standby, which may lack commits that its primary has. */
    private boolean compare(Connection c) throws SQLException {
        if (!KnownEvents.comparable(c)) {
            return false;
        }
        record(c);
        List<Known> old;
        List<Known> last;
        synchronized (this) {
            old = before;
            last = new ArrayList<>(old.subList(Math.max(0, old.size() - COMPARED), old.size()));
            known.stream().skip(Math.max(0, known.size() - COMPARED)).forEach(last::add);
        }
        List<Known> gone = KnownEvents.missing(c, last);
        if (gone.isEmpty()) {
            confirm(old, KnownEvents.latest(c, READ), KnownEvents.settled(c));
        } else {
            List<Known> all = KnownEvents.missing(c, all());
            went(c, all.isEmpty() ? gone : all);
        }
        return true;
    }

    private synchronized void confirm(List<Known> old, List<Known> latest, long now) {
        if (before == old) {
            before = List.of();
        }
        settled = now;
        latest.stream().filter(each -> known.stream().noneMatch(each::sameAs)).forEach(known::addLast);
        while (known.size() > MAX_KNOWN) {
            known.removeFirst();
        }
    }

    private void went(Connection c, List<Known> gone) throws SQLException {
        Known first = gone.stream().min(Comparator.comparing(Known::at)).orElseThrow();
        long readAfter = gone.stream().mapToLong(Known::id).filter(id -> id > 0).map(id -> id - 1).min()
                .orElse(Long.MAX_VALUE);
        synchronized (this) {
            readAfter = Math.min(readAfter, settled);
            known.clear();
            before = List.of();
        }
        readAfter = Math.min(readAfter, KnownEvents.settled(c));
        DatabaseLoss found = new DatabaseLoss(ids.next(), DbClock.now(c), node, first.runId(), first.seq(), first.at(),
                gone.size(), readAfter, null, null);
        recorded = false;
        stop(found);
        record(c);
    }

    /** Until it is recorded, each comparison tries again. */
    private void record(Connection c) throws SQLException {
        DatabaseLoss found = loss;
        if (found != null && !recorded) {
            DatabaseLosses.record(c, found);
            recorded = true;
            listeners.forEach(Runnable::run);
        }
    }

    private void stop(DatabaseLoss found) {
        loss = found;
        LOG.error("DATABASE_WENT_BACK: {}", text(found));
        listeners.forEach(Runnable::run);
    }

    /** The loss and its remedies, as a text for operators. */
    public static String text(DatabaseLoss loss) {
        return "the database no longer has event " + loss.seq() + " of run " + loss.runId() + ", committed at "
                + loss.eventAt() + ", and " + (loss.commits() - 1)
                + " later commits that a server knew. No server claims"
                + " work, and changes are refused. Give the servers the database that has these commits, or continue"
                + " without them by `keelson database accept`. Readers of the feed begin again after event "
                + loss.readAfter();
    }

    /** Reads the losses that servers have recorded and operators have accepted. */
    public void refresh(Connection c) throws SQLException {
        Optional<DatabaseLoss> open = DatabaseLosses.open(c);
        if (loss == null && open.isPresent()) {
            recorded = true;
            stop(open.get());
        } else if (loss != null && recorded && open.isEmpty()) {
            loss = null;
            LOG.warn("the database is accepted as it is: this server continues");
            listeners.forEach(Runnable::run);
        }
    }
}
