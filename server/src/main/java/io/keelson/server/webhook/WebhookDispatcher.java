package io.keelson.server.webhook;

import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.db.Database;
import io.keelson.server.outbound.OutboundClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
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
    private final Deliveries deliveries;
    private final Clock clock;
    private final Semaphore signals = new Semaphore(0);
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);
    private final ExecutorService turns = Executors.newVirtualThreadPerTaskExecutor();
    private final Thread thread;
    private Instant forgetAt;
    private volatile boolean closed;

    /**
     * @param traceContexts trace positions of runs; null for none
     * @param observer observes attempts
     */
    public WebhookDispatcher(Database database, WebhookServices webhooks, OutboundClient client, Clock clock,
            Function<RunTrace, @Nullable TraceParent> traceContexts, DeliveryObserver observer) {
        this.fanOut = new FanOut(database, traceContexts);
        this.deliverySender = new DeliverySender(database, client, webhooks.endpoints().seals(), clock,
                DeliveryPolicy.USUAL, observer);
        this.deliveries = webhooks.deliveries();
        this.clock = clock;
        this.forgetAt = clock.instant().plus(CLEANUP_INTERVAL);
        this.thread = Thread.ofVirtual().name("webhooks").start(this::work);
    }

    /** Signals that deliveries may be due. Returns at once; several signals cause one check. */
    public void signal() {
        signals.release();
    }

    private void work() {
        try {
            while (!closed) {
                signals.acquire();
                signals.drainPermits();
                look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Failing to create deliveries does not delay existing ones. */
    private void look() {
        quietly("making deliveries", () -> {
            if (fanOut.next()) {
                signal();
            }
        });
        quietly("sending them", () -> {
            int most = permits.availablePermits();
            List<DeliverySender.EndpointBatch> claimed = most == 0 ? List.of() : deliverySender.claim(most);
            for (DeliverySender.EndpointBatch endpointBatch : claimed) {
                permits.acquireUninterruptibly();
                turns.execute(() -> serve(endpointBatch));
            }
        });
        quietly("forgetting old ones", () -> {
            if (clock.instant().isAfter(forgetAt)) {
                forgetAt = clock.instant().plus(CLEANUP_INTERVAL);
                deliveries.forget();
            }
        });
    }

    private static void quietly(String what, Runnable duty) {
        try {
            duty.run();
        } catch (RuntimeException e) {
            LOG.warn("webhook dispatch failed at {}, retrying", what, e);
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
    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.interrupt();
        thread.join();
        turns.shutdownNow();
        turns.close();
    }
}
