package io.keelson.server.annex.model.gateway;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.core.money.Tokens;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.server.annex.model.gateway.Occurrences.Occurrence;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.PassedAnswer;
import io.keelson.server.annex.model.wire.PassedRefusalException;
import io.keelson.server.annex.model.wire.PassedRequest;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.MountedRequest;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.engine.store.queue.GatewayTokens.Lease;
import io.keelson.server.engine.store.read.GatewayRecords;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers requests of programs to models: from the record, from an exchange that has begun, or by a new exchange, whose worst case is
 * held before it is sent, and whose answer is recorded and charged before anything passes on that a program acts on.
 */
final class ModelGateway {
    private static final Logger LOG = LoggerFactory.getLogger(ModelGateway.class);
    private static final String REPLAYED = "x-keelson-replayed";
    private static final String MAX_OUTPUT = "x-keelson-max-output";
    private static final Actor ACTOR = Actor.agent("gateway");
    /** For a whole answer. */
    private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);
    private static final Duration OTHERS = Duration.ofMillis(200);
    /** A server without a sign of life for so long is gone. */
    private static final Duration SILENCE = Duration.ofSeconds(15);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final int TRIES = 3;
    private static final int IN_FLIGHT = 128;
    private static final long RECORDED_BYTES = 256L << 20;
    private static final int MAX_LEASES = 100_000;
    private static final Duration LEASE_MEMORY = Duration.ofHours(6);
    private static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int PAYMENT_REQUIRED = 402;
    private static final int TOO_LARGE = 413;
    private static final int TOO_MANY = 429;
    private static final int BAD_GATEWAY = 502;
    private static final int UNAVAILABLE = 503;

    private final UsableModels models;
    private final GatewayRecords records;
    private final Commands commands;
    private final Supplier<PassingClient> client;
    private final GatewayObserver observer;
    private final GatewayLog log;
    private final String node;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Map<UUID, Exchange> flying = new ConcurrentHashMap<>();
    private final Cache<LeaseKey, OfLease> leases =
            Caffeine.newBuilder().maximumSize(MAX_LEASES).expireAfterAccess(LEASE_MEMORY).build();

    private record LeaseKey(UUID step, int epoch) {}

    /** The requests of a lease at this server. */
    private static final class OfLease {
        private final Occurrences occurrences = new Occurrences();
        private final AtomicInteger inFlight = new AtomicInteger();
        private final AtomicLong orphansClosedAt = new AtomicLong(Long.MIN_VALUE);
        private final AtomicLong recordedBytes = new AtomicLong(-1);

        /** True once in a few seconds, when requests of servers that are gone are to be closed. */
        private boolean orphansAreDue() {
            long now = System.nanoTime();
            long last = orphansClosedAt.get();
            return (last == Long.MIN_VALUE || now - last > KEEP_ALIVE.toNanos())
                    && orphansClosedAt.compareAndSet(last, now);
        }
    }

    /** @param node the server's name among the servers of the database */
    ModelGateway(UsableModels models, GatewayRecords records, Commands commands, Supplier<PassingClient> client,
            GatewayObserver observer, GatewayLog log, String node) {
        this.models = models;
        this.records = records;
        this.commands = commands;
        this.client = client;
        this.observer = observer;
        this.log = log;
        this.node = node;
    }

    /** Answers a request. */
    ApiResponse answer(Found caller, GatewayPath path, MountedRequest mounted)
            throws GatewayError, IOException, InterruptedException {
        ProgramRequest request = ProgramRequest.read(path, mounted);
        mounted.body().release();
        ConfiguredModel model = models.find(caller, request.model());
        if (model.wire() != path.wire()) {
            throw new GatewayError(BAD_REQUEST, "unsupported_wire", "the model '" + model.name()
                    + "' has the wire " + model.wire().wire() + ": request it over that wire");
        }
        OfLease lease = leases.get(new LeaseKey(caller.lease().stepId(), caller.lease().epoch()), _ -> new OfLease());
        GatewayError refused = lease.occurrences.refusal(request.keys().k1());
        if (refused != null) {
            throw refused;
        }
        if (lease.inFlight.incrementAndGet() > IN_FLIGHT) {
            lease.inFlight.decrementAndGet();
            throw new GatewayError(TOO_MANY, "too_many_requests",
                    "the step has " + IN_FLIGHT + " requests in flight").header("retry-after", "1");
        }
        boolean left = false;
        try {
            Delivery delivery = new Delivery(caller, lease, request, model, mounted);
            ApiResponse response = delivery.response();
            left = delivery.leavesLater();
            return response;
        } finally {
            if (!left) {
                lease.inFlight.decrementAndGet();
            }
        }
    }

    /** One client's request. */
    private final class Delivery {
        private final Lease lease;
        private final int attempt;
        private final OfLease known;
        private final ProgramRequest request;
        private final ConfiguredModel model;
        private final MountedRequest mounted;
        private Occurrence occurrence;
        private boolean later;

        Delivery(Found caller, OfLease known, ProgramRequest request, ConfiguredModel model, MountedRequest mounted)
                throws InterruptedException {
            this.lease = caller.lease();
            this.attempt = caller.attempt();
            this.known = known;
            this.request = request;
            this.model = model;
            this.mounted = mounted;
            this.occurrence = enter();
        }

        /** Whether the response leaves the occurrence once it is written. */
        boolean leavesLater() {
            return later;
        }

        private Occurrence enter() throws InterruptedException {
            if (known.orphansAreDue()) {
                closeOrphans(lease.stepId());
            }
            UUID id = UUID.randomUUID();
            Occurrence entered = known.occurrences.enter(request, records, lease.stepId(), id, flying::get);
            Exchange exchange = entered.exchange();
            if (entered.fresh() && exchange != null && entered.id().equals(id)) {
                flying.put(id, exchange);
                Thread.ofVirtual().name("gateway-" + id).start(() -> exchange(exchange));
            }
            return entered;
        }

        ApiResponse response() throws GatewayError, InterruptedException {
            boolean delivered = false;
            try {
                Exchange exchange = occurrence.exchange();
                boolean live = exchange != null && exchange.streamed() && request.stream();
                if (live) {
                    Objects.requireNonNull(exchange).awaitBeginning();
                    later = true;
                    return stream(headers(exchange), out -> follow(exchange, out));
                }
                JsonNode document = exchange == null ? recordedDocument() : exchange.await();
                if (request.stream()) {
                    List<byte[]> events = RecordedStream.of(request.path(), document, request.wantsUsage());
                    later = true;
                    return stream(headers(exchange), out -> {
                        for (byte[] event : events) {
                            out.write(event);
                        }
                        out.flush();
                    });
                }
                delivered = !mounted.clientGone();
                byte[] bytes = Json.write(document);
                return new ApiResponse(OK, new ApiResponse.Content.Stream("application/json", bytes.length,
                        new ByteArrayInputStream(bytes)), headers(exchange), false, "");
            } catch (GatewayError e) {
                known.occurrences.forget(request, occurrence);
                throw e;
            } finally {
                if (!later) {
                    known.occurrences.leave(occurrence, delivered);
                }
            }
        }

        private Map<String, String> headers(@Nullable Exchange exchange) {
            Map<String, String> headers = new TreeMap<>();
            headers.put("Cache-Control", "no-cache");
            if (!occurrence.fresh()) {
                headers.put(REPLAYED, occurrence.alike() ? "alike" : "true");
                observer.onReplay(model.name());
            }
            if (exchange != null && exchange.maxOutput() > 0) {
                headers.put(MAX_OUTPUT, Long.toString(exchange.maxOutput()));
            }
            return headers;
        }

        private ApiResponse stream(Map<String, String> headers, ApiResponse.Writer writer) {
            return new ApiResponse(OK, new ApiResponse.Content.Live("text/event-stream", out -> {
                boolean delivered = false;
                try {
                    writer.writeTo(out);
                    delivered = true;
                } finally {
                    known.inFlight.decrementAndGet();
                    known.occurrences.leave(occurrence, delivered);
                }
            }), headers, false, "");
        }

        private void follow(Exchange exchange, OutputStream out) throws IOException, InterruptedException {
            byte[] alive = new StreamParts(request.path(), false).alive();
            int written = 0;
            boolean ended = false;
            while (!ended) {
                Exchange.News news;
                try {
                    news = exchange.after(written, KEEP_ALIVE);
                } catch (GatewayError e) {
                    known.occurrences.forget(request, occurrence);
                    throw new UncheckedIOException(new IOException("the answer broke off: " + e.message()));
                }
                for (byte[] event : news.events()) {
                    out.write(event);
                }
                if (news.events().isEmpty() && !news.ended()) {
                    out.write(alive);
                }
                out.flush();
                written += news.events().size();
                ended = news.ended();
            }
        }

        /** The recorded answer; another server may still read it. */
        private JsonNode recordedDocument() throws GatewayError, InterruptedException {
            while (records.open(occurrence.id())) {
                closeOrphans(lease.stepId());
                pause(OTHERS);
            }
            return records.answer(occurrence.id()).map(answer -> answer.get("document")).orElseThrow(
                    () -> new GatewayError(UNAVAILABLE, "answer_lost",
                            "the server that has requested this answer is gone: send the request again")
                            .header("retry-after", "1"));
        }

        /** Holds, sends, records and charges. */
        private void exchange(Exchange exchange) {
            try {
                send(exchange);
            } catch (GatewayError e) {
                if (e.code().equals("budget_exceeded")) {
                    known.occurrences.refuse(request.keys().k1(), e);
                    observer.onRefusedHold(model.name());
                }
                exchange.fail(e);
            } catch (InterruptedException e) {
                exchange.fail(stoppingFailure());
            } catch (RuntimeException e) {
                LOG.warn("a request of a program failed", e);
                exchange.fail(new GatewayError(UNAVAILABLE, "not_ready", "the server cannot take the request now")
                        .header("retry-after", "1"));
            } finally {
                flying.remove(exchange.id());
            }
        }

        private void send(Exchange exchange) throws GatewayError, InterruptedException {
            if (known.recordedBytes.get() < 0) {
                known.recordedBytes.compareAndSet(-1, records.bytes(lease.stepId()));
            }
            if (known.recordedBytes.get() > RECORDED_BYTES) {
                throw new GatewayError(TOO_LARGE, "record_full",
                        "the answers of the step have more than " + (RECORDED_BYTES >> 20) + " MiB");
            }
            var most = request.most(model);
            ObjectNode facts = request.facts(node);
            if (known.occurrences.diverges()) {
                Divergence.of(facts, records.facts(lease.stepId())).ifPresent(difference -> {
                    facts.set("differs", difference);
                    log.line(lease, attempt, "gateway: answers of " + known.occurrences.replayed()
                            + " requests are replayed, the request from now on is new: message "
                            + difference.get("message")
                            + " (" + difference.get("role").stringValue() + ") has '"
                            + difference.get("sent").stringValue()
                            + "' instead of the recorded '" + difference.get("recorded").stringValue() + "'");
                    observer.onDivergence(model.name());
                });
            }
            Reply reply = commands.commit(new Command.AskModel(lease.runId(), lease.stepId(), lease.epoch(),
                    exchange.id(), most, request.leastOutput(), request.keys().k1(), request.keys().k2(),
                    facts.toString(), ACTOR), null);
            if (!(reply instanceof Reply.Paid(long output, String refusal))) {
                throw holdFailure(reply);
            }
            if (refusal != null) {
                throw new GatewayError(request.codex() ? BAD_REQUEST : PAYMENT_REQUIRED, "budget_exceeded", refusal)
                        .header("x-should-retry", "false");
            }
            exchange.lower(output < most.maxOutput() ? output : 0);
            observer.onRequest(model.name());
            PassedAnswer answer = pass(exchange, output);
            Tokens usage = answer.usage();
            Result used = Result.spent(usage == null ? new Tokens(most.maxInput(), 0, 0, output, 0) : usage, null,
                    model.name()).estimated(usage == null);
            ObjectNode record = Json.object().put("first_ms", answer.firstMillis()).put("total_ms",
                    answer.totalMillis());
            record.set("document", answer.document());
            String text = record.toString();
            end(exchange.id(), Outcome.ANSWERED, used, text);
            known.recordedBytes.addAndGet(text.length());
            exchange.record(answer.document());
        }

        private PassedAnswer pass(Exchange exchange, long output) throws GatewayError, InterruptedException {
            PassedRequest sent =
                    new PassedRequest(request.providerBody(model, output), request.headers(), request.stream(),
                            output, ANSWER_TIMEOUT);
            for (int tries = 1;; tries++) {
                StreamParts parts = new StreamParts(request.path(), request.wantsUsage());
                try {
                    return client.get().send(model.endpoint(), sent, (data, event) -> {
                        boolean held = parts.holds(event);
                        byte[] bytes = parts.bytes(data, event);
                        if (bytes != null) {
                            exchange.add(bytes, held);
                        }
                    }).get();
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof PassedRefusalException refusal) {
                        Duration pause =
                                Objects.requireNonNullElse(refusal.retryAfter(), Duration.ofMillis(500L * tries));
                        if (!refusal.passes() || tries == TRIES || pause.compareTo(LONGEST_PAUSE) > 0) {
                            end(exchange.id(), Outcome.REFUSED, null, null);
                            throw providerFailure(refusal);
                        }
                        pause(pause);
                    } else if (isUnsent(e.getCause())) {
                        if (tries == TRIES) {
                            end(exchange.id(), Outcome.REFUSED, null, null);
                            throw new GatewayError(BAD_GATEWAY, "provider_unavailable",
                                    "the provider of the model '" + model.name() + "' cannot be reached");
                        }
                        pause(Duration.ofMillis(500L * tries));
                    } else {
                        LOG.info("an answer for a program is lost: {}", String.valueOf(e.getCause()));
                        end(exchange.id(), Outcome.LOST, null, null);
                        throw new GatewayError(BAD_GATEWAY, "answer_lost", "the answer of the model '" + model.name()
                                + "' broke off; what its provider may have billed is charged");
                    }
                }
            }
        }

        private void end(UUID id, Outcome outcome, @Nullable Result used, @Nullable String answer)
                throws GatewayError, InterruptedException {
            Reply reply =
                    commands.commit(new Command.EndRequest(lease.runId(), lease.stepId(), id, outcome, used, answer,
                            ACTOR), null);
            if (reply instanceof Reply.Rejected && !(outcome == Outcome.ANSWERED && isRecorded(id))) {
                throw stepEndedFailure();
            }
        }

        /** Whether an earlier try of the commit, whose reply was lost, has recorded the answer. */
        private boolean isRecorded(UUID id) {
            return records.answer(id).isPresent();
        }
    }

    /** Waits for the time, or for the end of this server. */
    private void pause(Duration time) throws InterruptedException {
        if (closing.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new InterruptedException("the server is stopping");
        }
    }

    /** Ends all pauses. */
    void close() {
        closing.countDown();
    }

    private static boolean isUnsent(@Nullable Throwable cause) {
        return cause instanceof ConnectException || cause instanceof UnknownHostException
                || cause instanceof SSLHandshakeException;
    }

    private static GatewayError holdFailure(Reply reply) {
        if (reply instanceof Reply.Rejected(String code, String message, String _, List<String> _)
                && code.equals("NO_PRICE")) {
            return new GatewayError(BAD_REQUEST, "model_not_priced", message);
        }
        return stepEndedFailure();
    }

    private static GatewayError stepEndedFailure() {
        return new GatewayError(UNAUTHORIZED, "step_ended", "the step has ended or has lost its lease");
    }

    private static GatewayError stoppingFailure() {
        return new GatewayError(UNAVAILABLE, "not_ready", "the server is stopping").header("retry-after", "1");
    }

    private static GatewayError providerFailure(PassedRefusalException refusal) {
        int status = refusal.status() == UNAUTHORIZED || refusal.status() == 403 ? BAD_GATEWAY
                : refusal.status() == PAYMENT_REQUIRED ? BAD_GATEWAY : refusal.status();
        GatewayError error = new GatewayError(status, "provider_refused", String.valueOf(refusal.getMessage()));
        Duration pause = refusal.retryAfter();
        return refusal.passes() && pause != null ? error.header("retry-after", Long.toString(pause.toSeconds() + 1))
                : refusal.passes() ? error : error.header("x-should-retry", "false");
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
                        Outcome.LOST, null, null, ACTOR), null);
            } catch (Commands.RunNotFound e) {
                LOG.debug("the run of an open request is gone", e);
            }
        }
    }
}
