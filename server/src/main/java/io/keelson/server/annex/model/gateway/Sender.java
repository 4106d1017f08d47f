package io.keelson.server.annex.model.gateway;

import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.EndRequest.Outcome;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.wire.PassedAnswer;
import io.keelson.server.annex.model.wire.PassedRefusalException;
import io.keelson.server.annex.model.wire.PassedRequest;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundRefusedException;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.store.ModelRates.Admission;
import io.keelson.server.engine.store.queue.GatewayTokens.Found;
import io.keelson.server.engine.store.queue.GatewayTokens.Lease;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends a request to its provider: its worst case is held before, and its answer is recorded and charged before anything passes on
 * that a program acts on. Reads the answer to its end also when no client is left.
 */
final class Sender {
    static final Actor ACTOR = Actor.agent("gateway");
    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
    /** How long a request waits for holds of others, and for limits per minute. */
    private static final Duration HOLDS = Duration.ofSeconds(30);
    private static final Duration HOLD_POLL = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final int TRIES = 3;
    private static final int RECORD_TRIES = 150;
    private static final Duration RECORD_PAUSE = Duration.ofMillis(200);
    private static final long RECORDED_BYTES = 256L << 20;
    private static final int PROVIDER_DIGITS = 16;
    /** Copies of earlier responses in memory: their trees, and the bytes that are sent. */
    private static final int COPIES = 2;
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int PAYMENT_REQUIRED = 402;
    private static final int TOO_LARGE = 413;
    private static final int TOO_MANY = 429;
    private static final int BAD_GATEWAY = 502;
    private static final int UNAVAILABLE = 503;

    private final ModelGateway gateway;
    private final Lease lease;
    private final int attempt;
    private final RunTrace run;
    /** Null if the request names no trace. */
    private final @Nullable TraceParent program;
    private final LeaseRequests known;
    private final LeaseRequests.InFlight inFlight;
    private final ProgramRequest request;
    private final ConfiguredModel model;
    /** The limits that have refused the request; empty before that. */
    private String limits = "";
    /** Admission by the limits per minute; null before that. */
    private @Nullable Admission admission;
    /** Whether the request is held, and its provider may bill it. */
    private boolean held;

    /**
     * @param inFlight ended with the exchange
     * @param program position of the program in a trace; null if absent
     */
    Sender(ModelGateway gateway, Found caller, LeaseRequests known, LeaseRequests.InFlight inFlight,
            ProgramRequest request, ConfiguredModel model, @Nullable TraceParent program) {
        this.gateway = gateway;
        this.lease = caller.lease();
        this.attempt = caller.attempt();
        this.run = caller.trace();
        this.program = program;
        this.known = known;
        this.inFlight = inFlight;
        this.request = request;
        this.model = model;
    }

    /** Ends the exchange with an answer or a failure. */
    void run(Exchange exchange) {
        try (inFlight) {
            DocumentMemory.<Void, Exception>forAnswers(lease.workspaceId(), () -> {
                send(exchange);
                return null;
            });
        } catch (GatewayError e) {
            if (e.code().equals("budget_exceeded")) {
                known.occurrences().refuse(request.keys().k1(), e, limits);
                gateway.observer().onRefusedHold(model.name());
            }
            exchange.fail(e);
        } catch (InterruptedException e) {
            exchange.fail(stoppingFailure());
        } catch (Exception e) {
            LOG.warn("a request of a program failed", e);
            exchange.fail(new GatewayError(UNAVAILABLE, "not_ready", "the server cannot take the request now")
                    .header("retry-after", "1"));
        } finally {
            known.wakeOne();
            if (!held) {
                correct(0);
            }
        }
    }

    private void send(Exchange exchange) throws GatewayError, InterruptedException {
        if (known.recordedBytes().get() < 0) {
            known.recordedBytes().compareAndSet(-1, gateway.records().bytes(lease.stepId()));
        }
        if (known.recordedBytes().get() > RECORDED_BYTES) {
            throw new GatewayError(TOO_LARGE, "record_full",
                    "the answers of the step have more than " + (RECORDED_BYTES >> 20) + " MiB");
        }
        ProgramRequest whole = EarlierResponses.resolve(request, provider(),
                known.responses().lookup(gateway.records(), sources()));
        inFlight.take(COPIES * (long) Math.max(0, whole.bytes() - request.bytes()));
        Passage passage = Passage.of(whole, model, exchange, gateway.client());
        inFlight.take(passage instanceof LoweredPassage ? COPIES * (long) passage.bytes() : 0);
        WorstCase most = whole.most(model, passage.bytes());
        ObjectNode facts = request.facts(gateway.node(), provider());
        if (known.occurrences().diverges()) {
            Divergence.of(facts, digests -> gateway.records().closest(sources(), digests)).ifPresent(difference -> {
                facts.set("differs", difference);
                gateway.log().line(lease, attempt, "gateway: answers of " + known.occurrences().replayed()
                        + " requests are replayed, the request from now on is new: message "
                        + difference.get("message")
                        + " (" + difference.get("role").stringValue() + ") has '"
                        + difference.get("sent").stringValue()
                        + "' instead of the recorded '" + difference.get("recorded").stringValue() + "'");
                gateway.observer().onDivergence(model.name());
            });
        }
        admit(most);
        Reply.Paid paid = hold(exchange, most, facts.toString(), HOLDS);
        if (paid.refusal() != null) {
            limits = gateway.records().limits(lease.runId());
            paid = hold(exchange, most, facts.toString(), Duration.ZERO);
        }
        if (paid.refusal() != null) {
            throw new GatewayError(request.codex() ? BAD_REQUEST : PAYMENT_REQUIRED, "budget_exceeded", paid.refusal())
                    .header("x-should-retry", "false");
        }
        held = true;
        long output = paid.maxOutput();
        exchange.lower(output < most.maxOutput() ? output : 0);
        gateway.observer().onRequest(model.name());
        PassedAnswer answer = passage.answer(pass(exchange, passage, output));
        Tokens usage = answer.usage();
        Result used = Result.spent(usage == null ? new Tokens(most.maxInput(), 0, 0, output, 0) : usage, null,
                model.name()).estimated(usage == null);
        ObjectNode record = Json.object().put("first_ms", answer.firstMillis()).put("total_ms",
                answer.totalMillis());
        record.set("document", answer.document());
        EarlierResponses.keep(request, record);
        String text = record.toString();
        end(exchange.id(), Outcome.ANSWERED, used, text);
        gateway.observer().onRecord(new GatewayObserver.Answered(lease, run, program, model.name(),
                request.path() == GatewayPath.EMBEDDINGS, usage == null ? Tokens.NONE : usage,
                Duration.ofMillis(answer.totalMillis())));
        known.recordedBytes().addAndGet(text.length());
        if (request.path() == GatewayPath.RESPONSES) {
            known.responses().add(answer.document(), exchange.id());
        }
        exchange.record(answer.document());
        correct(used.tokens().total());
    }

    /** Waits for the limits per minute of the model. */
    private void admit(WorstCase most) throws GatewayError, InterruptedException {
        Admission asked = gateway.rates().take(lease.workspaceId(), model.name(), false,
                most.maxInput() + most.maxOutput(), HOLDS);
        Duration wait = asked.pause();
        if (!asked.admitted() || wait == null) {
            gateway.observer().onTooMany(model.name());
            GatewayError refused = new GatewayError(TOO_MANY, "rate_limited", "the workspace's limit " + asked.limit()
                    + (wait == null ? " admits no request"
                            : " admits the next request in " + (wait.toSeconds() + 1) + " s"));
            throw wait == null ? refused.header("x-should-retry", "false")
                    : refused.header("retry-after", Long.toString(wait.toSeconds() + 1));
        }
        admission = asked;
        gateway.pause(wait);
    }

    /** The limits per minute get back the difference to the worst case. */
    private void correct(long tokens) {
        if (admission != null) {
            gateway.rates().correct(admission, tokens);
        }
    }

    private List<UUID> sources() {
        return known.sources(() -> gateway.records().sources(lease.stepId()));
    }

    /** Names the provider and its account. */
    private String provider() {
        return Json.digest(Json.array().add(model.baseUrl().toString()).add(model.apiKey().get()))
                .substring(0, PROVIDER_DIGITS);
    }

    /**
     * Holds the worst case, if necessary after other requests of the run have ended.
     *
     * @param longest wait for these
     */
    private Reply.Paid hold(Exchange exchange, WorstCase most, String facts, Duration longest)
            throws GatewayError, InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        long least = known.exactOutput(() -> gateway.records().exactOutput(lease.runId())) ? most.maxOutput()
                : request.leastOutput();
        while (true) {
            Reply reply = gateway.commands().commit(new Command.AskModel(lease.runId(), lease.stepId(), lease.epoch(),
                    exchange.id(), most, least, request.keys().k1(), request.keys().k2(), facts,
                    System.nanoTime() < end, ACTOR), null);
            if (!(reply instanceof Reply.Paid paid)) {
                throw holdFailure(reply);
            }
            if (!paid.waits()) {
                known.wakeOne();
                return paid;
            }
            known.awaitHold(HOLD_POLL);
            gateway.pause(Duration.ZERO);
        }
    }

    private PassedAnswer pass(Exchange exchange, Passage passage, long output)
            throws GatewayError, InterruptedException {
        PassedRequest sent = passage.request(output);
        for (int tries = 1;; tries++) {
            try {
                return gateway.client().send(model.endpoint(), sent, passage).get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof PassedRefusalException refusal) {
                    Duration pause =
                            Objects.requireNonNullElse(refusal.retryAfter(), Duration.ofMillis(500L * tries));
                    if (!refusal.passes() || tries == TRIES || pause.compareTo(LONGEST_PAUSE) > 0) {
                        end(exchange.id(), Outcome.REFUSED, null, null);
                        throw providerFailure(refusal);
                    }
                    gateway.pause(pause);
                } else if (isUnsent(e.getCause())) {
                    if (tries == TRIES) {
                        end(exchange.id(), Outcome.REFUSED, null, null);
                        throw new GatewayError(BAD_GATEWAY, "provider_unavailable",
                                "the provider of the model '" + model.name() + "' cannot be reached");
                    }
                    gateway.pause(Duration.ofMillis(500L * tries));
                } else {
                    LOG.info("an answer for a program is lost: {}", String.valueOf(e.getCause()));
                    end(exchange.id(), Outcome.LOST, null, null);
                    if (OutboundRefusedException.isTooLarge(e)) {
                        throw new GatewayError(TOO_LARGE, "answer_too_large", "the answer of the model '" + model.name()
                                + "' has more than " + (PassingClient.MAX_BYTES >> 20)
                                + " MiB and is not recorded; what its provider may have billed is charged: request less at"
                                + " a time").header("x-should-retry", "false");
                    }
                    throw new GatewayError(BAD_GATEWAY, "answer_lost", "the answer of the model '" + model.name()
                            + "' broke off; what its provider may have billed is charged");
                }
            }
        }
    }

    private void end(UUID id, Outcome outcome, @Nullable Result used, @Nullable String answer)
            throws GatewayError, InterruptedException {
        Reply reply = record(
                new Command.EndRequest(lease.runId(), lease.stepId(), id, outcome, used, answer, ACTOR));
        if (outcome == Outcome.REFUSED) {
            correct(0);
        }
        if (reply instanceof Reply.Rejected && !(outcome == Outcome.ANSWERED && isRecorded(id))) {
            throw stepEndedFailure();
        }
    }

    /** Commits the answer of a provider; waits while the queue of commands is full, as the answer is paid for. */
    private Reply record(Command command) throws InterruptedException {
        for (int tries = 1;; tries++) {
            try {
                return gateway.commands().commit(command, null);
            } catch (CompletionException e) {
                if (!(e.getCause() instanceof Commands.Overloaded) || tries == RECORD_TRIES) {
                    throw e;
                }
                gateway.pause(RECORD_PAUSE);
            }
        }
    }

    /** Whether an earlier try of the commit, whose reply was lost, has recorded the answer. */
    private boolean isRecorded(UUID id) {
        return gateway.records().answer(id).isPresent();
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

    static GatewayError providerFailure(PassedRefusalException refusal) {
        int status = refusal.status() == UNAUTHORIZED || refusal.status() == 403 ? BAD_GATEWAY
                : refusal.status() == PAYMENT_REQUIRED ? BAD_GATEWAY : refusal.status();
        GatewayError error = new GatewayError(status, "provider_refused", String.valueOf(refusal.getMessage()));
        Duration pause = refusal.retryAfter();
        return refusal.passes() && pause != null ? error.header("retry-after", Long.toString(pause.toSeconds() + 1))
                : refusal.passes() ? error : error.header("x-should-retry", "false");
    }
}
