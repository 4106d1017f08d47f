package io.keelson.server.annex.rabbitmq;

import com.rabbitmq.client.ShutdownSignalException;
import io.keelson.server.annex.rabbitmq.RabbitObserver.Happened;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.store.queue.WorkMessages;
import io.keelson.server.engine.store.queue.WorkMessages.Message;
import io.keelson.server.engine.tool.ToolSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the broker of ready work, soon after the commit that queues it. A message is sent again while its work is unclaimed and no
 * messages wait in its queue: it was lost, or its receiver could not claim the work. Any number of servers may do so at once.
 */
public final class RabbitModule implements ToolModule {

    private static final Logger LOG = LoggerFactory.getLogger(RabbitModule.class);
    /** Absent from the metrics of a server without a broker. */
    private static final String TASK = "rabbitmq";
    private static final int MAX_MESSAGES = 500;
    /** Time between attempts to connect, and to send refused messages. */
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** Time of an attempt, after which another server may repeat it. */
    private static final Duration ATTEMPT = Duration.ofSeconds(10);
    private static final Duration CONFIRMATION = Duration.ofSeconds(5);
    private static final long LONGEST_WATCH_MS = 60_000;

    private final Database database;
    private final Collection<String> ownTools;
    private final RabbitSettings settings;
    private final RabbitObserver observer;
    private final WorkAvailability.Watch work;
    private final BackgroundTask sending = BackgroundTask.every(TASK, PERIOD, this::send);
    private final Thread watching = Thread.ofVirtual().name("rabbitmq-watch").unstarted(this::watch);
    /** Null without a connection. Used by the task only. */
    private volatile @Nullable Broker broker;
    private boolean complete;
    private boolean away;

    /**
     * @param ownTools tools that servers execute
     * @param work has news when work was queued
     */
    public RabbitModule(Database database, Collection<String> ownTools, WorkAvailability.Watch work,
            RabbitSettings settings, RabbitObserver observer) {
        this.database = database;
        this.ownTools = List.copyOf(ownTools);
        this.work = work;
        this.settings = settings;
        this.observer = observer;
        observer.connected(() -> broker instanceof Broker connected && connected.isOpen());
    }

    @Override
    public void start(Runnable changed) {
        watching.start();
        sending.start();
    }

    @Override
    public List<BackgroundTask> tasks() {
        return List.of(sending);
    }

    private void watch() {
        try {
            while (!sending.isClosed()) {
                work.await(LONGEST_WATCH_MS);
                if (work.news()) {
                    sending.nudge();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void send() throws InterruptedException {
        try {
            Broker connected = connect();
            if (!complete) {
                database.runInTransaction(c -> WorkMessages.addAll(c, ownTools, ToolSpec.MCP));
                complete = true;
            }
            while (!sending.isClosed() && sendSome(connected)) {
                // there may be more
            }
        } catch (IOException | ShutdownSignalException e) {
            disconnect();
            if (!away) {
                LOG.warn("the broker at {} cannot be used, so workers poll: {}", settings.place(), e.getMessage());
            }
            away = true;
        }
    }

    private Broker connect() throws IOException {
        Broker known = broker;
        if (known != null && known.isOpen()) {
            return known;
        }
        disconnect();
        Broker connected = Broker.connect(settings, "keelson server");
        broker = connected;
        LOG.info("the broker at {} notifies workers of their work", settings.place());
        away = false;
        return connected;
    }

    private void disconnect() {
        Broker known = broker;
        broker = null;
        if (known != null) {
            known.close();
        }
    }

    /** Returns whether there may be more. */
    private boolean sendSome(Broker connected) throws IOException, InterruptedException {
        List<Message> taken = database.inTransaction(c -> WorkMessages.take(c, MAX_MESSAGES, ATTEMPT));
        if (taken.isEmpty()) {
            return false;
        }
        List<Message> wanted = new ArrayList<>();
        List<Message> waiting = new ArrayList<>();
        for (Message message : taken) {
            (message.sent() > 0 && connected.hasWaiting(message) ? waiting : wanted).add(message);
        }
        Broker.Outcome outcome = connected.send(wanted, CONFIRMATION);
        database.runInTransaction(c -> {
            WorkMessages.recordSent(c, outcome.confirmed(), settings.repeat());
            WorkMessages.recordUnsent(c, waiting, settings.repeat());
            WorkMessages.recordUnsent(c, outcome.refused(), PERIOD);
        });
        int repeated = (int) outcome.confirmed().stream().filter(message -> message.sent() > 0).count();
        observer.messages(Happened.SENT, outcome.confirmed().size() - repeated);
        observer.messages(Happened.REPEATED, repeated);
        observer.messages(Happened.REFUSED, outcome.refused().size());
        observer.messages(Happened.UNCONFIRMED,
                wanted.size() - outcome.confirmed().size() - outcome.refused().size());
        return taken.size() == MAX_MESSAGES && outcome.confirmed().size() == wanted.size();
    }

    /**
     * Tries to connect.
     *
     * @throws IOException with the reason why that is impossible
     */
    public static void check(RabbitSettings settings) throws IOException {
        Broker.connect(settings, "keelson doctor").close();
    }

    @Override
    public void close() throws InterruptedException {
        sending.close();
        watching.interrupt();
        watching.join();
        work.close();
        disconnect();
    }
}
