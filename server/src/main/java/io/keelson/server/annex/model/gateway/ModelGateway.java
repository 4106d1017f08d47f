package io.keelson.server.annex.model.gateway;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.ModelRates;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.engine.store.read.GatewayRecords;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests of programs to models: a {@link Delivery} for each client, a {@link Sender} for each request to a
 * provider.
 */
final class ModelGateway {
    private static final Logger LOG = LoggerFactory.getLogger(ModelGateway.class);
    /** A server without a sign of life for so long is gone. */
    private static final Duration SILENCE = Duration.ofSeconds(15);
    private static final int MAX_LEASES = 100_000;
    private static final Duration LEASE_MEMORY = Duration.ofHours(6);
    /** The part of the heap for requests in flight and unread answers; a workspace that is alone has half the part. */
    private static final int MEMORY_PART = 3;
    /** For each request, beside its body: the events of its answer that are not counted one by one. */
    private static final int REQUEST_BYTES = Exchange.UNCOUNTED + Exchange.BATCH;
    private static final int BAD_REQUEST = 400;

    private final UsableModels models;
    private final GatewayRecords records;
    private final Commands commands;
    private final Supplier<PassingClient> client;
    private final ModelRates rates;
    private final GatewayObserver observer;
    private final GatewayLog log;
    private final String node;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Map<UUID, Exchange> flying = new ConcurrentHashMap<>();
    private final WorkspaceRequests workspaces = new WorkspaceRequests(
            new DocumentMemory(Runtime.getRuntime().maxMemory() / MEMORY_PART));
    private final Cache<LeaseKey, LeaseRequests> leases =
            Caffeine.newBuilder().maximumSize(MAX_LEASES).expireAfterAccess(LEASE_MEMORY).build();

    private record LeaseKey(UUID step, int epoch) {}

    /** @param node the server's name among the servers of the database */
    ModelGateway(UsableModels models, GatewayRecords records, Commands commands, Supplier<PassingClient> client,
            ModelRates rates, GatewayObserver observer, GatewayLog log, String node) {
        this.models = models;
        this.records = records;
        this.commands = commands;
        this.client = client;
        this.rates = rates;
        this.observer = observer;
        this.log = log;
        this.node = node;
    }

    /** Answers a request. */
    ApiResponse answer(Found caller, GatewayPath path, MountedRequest mounted)
            throws GatewayError, IOException, InterruptedException {
        ProgramRequest request = ProgramRequest.read(path, mounted);
        long bytes = mounted.body().release();
        ConfiguredModel model = models.find(caller, request.model());
        if (!path.wires().contains(model.wire()) && !path.isLowered()) {
            throw new GatewayError(BAD_REQUEST, "unsupported_wire", "the model '" + model.name()
                    + "' has the wire " + model.wire().wire() + ": request it over that wire");
        }
        LeaseRequests lease =
                leases.get(new LeaseKey(caller.lease().stepId(), caller.lease().epoch()),
                        _ -> new LeaseRequests(workspaces, caller.lease().workspaceId(), records::find));
        GatewayError refused = lease.occurrences().refusal(request.keys().k1(),
                () -> records.limits(caller.lease().runId()));
        if (refused != null) {
            throw refused;
        }
        LeaseRequests.InFlight inFlight = admit(lease, bytes, model);
        boolean later = false;
        try {
            if (path == GatewayPath.COUNT_TOKENS) {
                return TokenCount.answer(client.get(), request, model, lease);
            }
            Delivery delivery = new Delivery(this, caller, lease, inFlight, request, model, mounted);
            ApiResponse response = delivery.response();
            later = delivery.endsLater();
            return response;
        } finally {
            if (!later) {
                inFlight.close();
            }
        }
    }

    /** @throws GatewayError {@code too_many_requests} */
    private LeaseRequests.InFlight admit(LeaseRequests lease, long bytes, ConfiguredModel model) throws GatewayError {
        try {
            return lease.begin(REQUEST_BYTES + bytes);
        } catch (GatewayError e) {
            observer.onTooMany(model.name());
            throw e;
        }
    }

    /** Starts an exchange, which is known here before its request is stored. */
    void begin(Exchange exchange, Sender sender) {
        flying.put(exchange.id(), exchange);
        Thread.ofVirtual().name("gateway-" + exchange.id()).start(() -> {
            try {
                sender.run(exchange);
            } finally {
                flying.remove(exchange.id());
            }
        });
    }

    /** An exchange of this server that has not ended; null for others. */
    @Nullable Exchange flying(UUID id) {
        return flying.get(id);
    }

    GatewayRecords records() {
        return records;
    }

    Commands commands() {
        return commands;
    }

    PassingClient client() {
        return client.get();
    }

    ModelRates rates() {
        return rates;
    }

    GatewayObserver observer() {
        return observer;
    }

    GatewayLog log() {
        return log;
    }

    /** The server's name among the servers of the database. */
    String node() {
        return node;
    }

    /** Waits for the time, or for the end of this server. */
    void pause(Duration time) throws InterruptedException {
        if (closing.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new InterruptedException("the server is stopping");
        }
    }

    /** Ends all pauses. */
    void close() {
        closing.countDown();
    }

    /**
     * Closes open requests of servers that are gone, and those of this server whose exchange has failed, as by an outage of the database: what
     * their providers may have billed is charged. An exchange is known here before its request is stored.
     *
     * @param step null for all steps
     */
    void closeOrphans(@Nullable UUID step) throws InterruptedException {
        for (GatewayRecords.Orphan orphan : records.orphans(step, node, SILENCE)) {
            if (flying.containsKey(orphan.id())) {
                continue;
            }
            try {
                var _ = commands.commit(new Command.EndRequest(orphan.runId(), orphan.stepId(), orphan.id(),
                        Outcome.LOST, null, null, Sender.ACTOR), null);
            } catch (Commands.RunNotFound e) {
                LOG.debug("the run of an open request is gone", e);
            }
        }
    }
}
