package io.keelson.server.outlet.webhook;

import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.outlet.notice.Mailer;
import io.keelson.server.outlet.notice.Notices;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates and sends due deliveries on one node after each signal. Keeps no state that a crash could lose. */
public final class WebhookDispatcher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WebhookDispatcher.class);
    private static final int MAX_CONCURRENT = 500;
    private static final Duration CLEANUP_INTERVAL = Duration.ofHours(1);

    private final FanOut fanOut;
    private final DeliverySender deliverySender;
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);
    private final ExecutorService turns = Executors.newVirtualThreadPerTaskExecutor();
    private final BackgroundTask creating = BackgroundTask.onNudge("webhook-fan-out", this::create);
    private final BackgroundTask sending = BackgroundTask.onNudge("webhook-sending", this::send);
    private final BackgroundTask cleaning;

    /**
     * Parts that send messages for people.
     *
     * @param mailer null for a server without a mail server
     */
    public record People(Notices notices, @Nullable Mailer mailer) {}

    /**
     * @param traceContexts trace positions of runs; null if absent
     * @param observers observe attempts
     */
    public WebhookDispatcher(Database database, Endpoints endpoints, Deliveries deliveries, OutboundClient client,
            People people, Clock clock, Function<RunTrace, @Nullable TraceParent> traceContexts,
            List<DeliveryObserver> observers) {
        this.fanOut = new FanOut(database, traceContexts);
        this.deliverySender = new DeliverySender(database, new DeliveryTransport(client, people.notices(),
                people.mailer(), clock, DeliveryPolicy.USUAL.timeout()), endpoints.seals(), clock,
                DeliveryPolicy.USUAL, observers);
        this.cleaning = BackgroundTask.every("webhook-cleanup", CLEANUP_INTERVAL, deliveries::forget).start();
    }

    /** Signals that deliveries may be due. Returns at once; several signals cause one check. */
    public void signal() {
        creating.nudge();
    }

    /** Failing to create deliveries does not delay existing ones. */
    private void create() {
        try {
            if (fanOut.next()) {
                creating.nudge();
            }
        } finally {
            sending.nudge();
        }
    }

    private void send() throws InterruptedException {
        int most = permits.availablePermits();
        List<DeliverySender.EndpointBatch> claimed = most == 0 ? List.of() : deliverySender.claim(most);
        for (DeliverySender.EndpointBatch endpointBatch : claimed) {
            permits.acquire();
            turns.execute(() -> serve(endpointBatch));
        }
    }

    private void serve(DeliverySender.EndpointBatch endpointBatch) {
        try {
            if (endpointBatch.serve()) {
                signal();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("webhook endpoint failed, retrying later", e);
        } finally {
            permits.release();
        }
    }

    /** Aborts attempts in progress: another node repeats them under the same id. */
    public List<BackgroundTask> tasks() {
        return List.of(creating, sending, cleaning);
    }

    @Override
    public void close() throws InterruptedException {
        creating.close();
        sending.close();
        cleaning.close();
        turns.shutdownNow();
        turns.close();
    }
}
