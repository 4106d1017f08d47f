package io.keelson.server.annex.model.call;

import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Deferral;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelClient;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.StoredAnswer;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.registry.RecordRequests;
import io.keelson.server.annex.model.registry.WorkspaceModels;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.ModelRates;
import io.keelson.server.engine.store.ModelRates.Admission;
import io.keelson.server.engine.tool.BusySystems;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.SentRequests;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolUsage;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Sends requests of tools to models, and makes failures of tools out of those of providers. Waits without a connection to the
 * database. An interrupt closes the connection to the provider.
 */
public final class ModelCalls {

    /** The code of a model that gives no answer. */
    public static final String UNAVAILABLE = "MODEL_UNAVAILABLE";

    /** How long a request waits for limits per minute before its step goes back to the queue. */
    private static final Duration RATE_WAIT = Duration.ofSeconds(5);
    /** A step that goes back is soon claimable again: claims wait for the limits, and notice when these are raised. */
    private static final Duration MAX_BACK = Duration.ofSeconds(10);

    private final WorkspaceModels models;
    private final Predicate<Use> allowed;
    private final Predicate<String> priced;
    private final ModelClient client;
    private final BusySystems busy;
    private final ModelRates rates;

    private record Use(UUID workspace, String model) {}

    /**
     * @param priced whether the price list has the model
     * @param busy models that have asked for a pause
     * @param rates limits per minute
     */
    public ModelCalls(WorkspaceModels models, Predicate<String> priced, ModelClient client, BusySystems busy,
            ModelRates rates) {
        this.models = models;
        this.allowed = new RecentlyTrue<>(use -> models.allows(use.workspace, use.model), System::nanoTime);
        this.priced = new RecentlyTrue<>(priced, System::nanoTime);
        this.client = client;
        this.busy = busy;
        this.rates = rates;
    }

    /** For a catalogue of tools that are not executed: there is no model. */
    public static ModelCalls unconnected() {
        return new ModelCalls(new WorkspaceModels(Models.NONE, workspace -> Optional.empty()), model -> false,
                (endpoint, request, timeout, listener) -> CompletableFuture
                        .failedFuture(new IllegalStateException("not connected")),
                new BusySystems(System::nanoTime), ModelRates.NONE);
    }

    /**
     * The model of that name, if the call's workspace may use it. Until a second after an operator has withdrawn the permission or
     * the price, it still may; commits charge by the price in force in any case.
     *
     * @throws ToolFailure {@code MODEL_NOT_ALLOWED}, {@code NO_PRICE}, or {@code MODEL_NOT_CONFIGURED}, which another server of
     *     the database may have
     */
    public ConfiguredModel find(ToolCall call, String name) throws ToolFailure {
        if (!allowed.test(new Use(call.workspaceId(), name))) {
            throw ToolFailure.permanent("MODEL_NOT_ALLOWED", "the workspace may not use the model '" + name
                    + "': an operator sets its models with `keelson workspaces models`");
        }
        ConfiguredModel model = models.configured().find(name).orElseThrow(() -> ToolFailure.infrastructure(
                "MODEL_NOT_CONFIGURED",
                "this server has no model '" + name + "': `keelson models` lists those it has"));
        if (!priced.test(name)) {
            throw ToolFailure.permanent("NO_PRICE", "the model '" + name
                    + "' has no price: set one with `keelson prices set model NAME --input CREDITS --output CREDITS`");
        }
        return model;
    }

    /**
     * The model of that name, or the first of its fallbacks that the workspace may use and that is not busy: while the model is
     * out of order, after unreadable answers, after the model was busy for too long, or where an earlier request went to it.
     *
     * @param before the model that answered an earlier request of the task; null if absent
     * @param failed whether earlier requests have failed
     * @param fits which models may answer; the one of that name is also chosen where none does
     */
    public ConfiguredModel chosen(ToolCall call, String name, @Nullable String before,
            boolean failed, Predicate<ConfiguredModel> fits) throws ToolFailure {
        ConfiguredModel asked = find(call, name);
        boolean elsewhere = failed || call.deferred().compareTo(asked.fallbackAfter()) >= 0
                || !fits.test(asked) || busy.down(system(asked));
        ConfiguredModel usable = null;
        for (String other : asked.fallback()) {
            if (elsewhere || other.equals(before)) {
                try {
                    ConfiguredModel found = find(call, other);
                    if (fits.test(found) && busy.closed(system(found)).isZero()) {
                        return found;
                    }
                    usable = usable == null && fits.test(found) ? found : usable;
                } catch (ToolFailure e) {
                    call.log().line("the fallback " + other + " cannot be used: " + e.getMessage());
                }
            }
        }
        return usable == null ? asked : usable;
    }

    /** The attempt after the short retries of a step. */
    public static boolean lastAttempt(ToolCall call) {
        return call.attempt() >= RetryPolicy.STEP.maxAttempts();
    }

    private static String system(ConfiguredModel model) {
        return Deferral.MODEL + model.name();
    }

    /**
     * A request whose worst case is held.
     *
     * @param maxInput tokens
     */
    public record Held(ModelRequest request, long maxInput) {}

    /**
     * The request with as much output as the run's credits pay; holds the cost of its worst case.
     *
     * @param last tokens of the task's last request to the same model, as its provider reported them; null if absent
     * @param fresh index of the first message that is new since the last request and its answer
     */
    public static Held held(ToolCall call, ConfiguredModel model, ModelRequest request, @Nullable Tokens last,
            int fresh) throws ToolFailure, InterruptedException {
        return held(call, model, request, InputBound.of(request, model, last, fresh), Tokens.NONE);
    }

    /**
     * The same for a further request of one execution.
     *
     * @param spent by the requests before
     * @throws ToolFailure {@code BUDGET_EXCEEDED}
     */
    static Held held(ToolCall call, ConfiguredModel model, ModelRequest request, Tokens spent)
            throws ToolFailure, InterruptedException {
        return held(call, model, request, InputBound.of(request, model, null, 0), spent);
    }

    private static Held held(ToolCall call, ConfiguredModel model, ModelRequest request, long input,
            Tokens spent) throws ToolFailure, InterruptedException {
        long paid = call.execution().hold(new WorstCase(model.name(), input + spent.total() - spent.output(),
                request.maxOutputTokens() + spent.output(), true), !spent.none());
        return new Held(request.writing((int) Math.clamp(paid - spent.output(), 1, request.maxOutputTokens())), input);
    }

    /**
     * Sends one request and waits for the answer, at most until the call's deadline.
     *
     * @throws ToolFailure with the tokens that the provider has reported all the same
     * @throws HandBackException while the provider asks for a pause or is out of order
     */
    public ModelAnswer send(ToolCall call, ConfiguredModel model, Held request, TextListener listener)
            throws ToolFailure, InterruptedException {
        boolean down = busy.down(system(model));
        try {
            return sent(call, model, request, listener);
        } catch (HandBackException e) {
            throw untilFallback(call, model, !down && busy.down(system(model)), e);
        }
    }

    /**
     * A step whose model has a fallback waits no longer than until the fallback is used.
     *
     * @param down whether the model is out of order now, which the choice of the model did not know
     */
    private static HandBackException untilFallback(ToolCall call, ConfiguredModel model, boolean down,
            HandBackException e) {
        HandBackException.Busy system = e.busy();
        Duration left = model.fallbackAfter().minus(call.deferred());
        if (system == null || model.fallback().isEmpty() || !down && !left.isPositive()) {
            return e;
        }
        Duration wait = down ? Duration.ZERO : left;
        return wait.compareTo(system.delay()) >= 0 ? e
                : new HandBackException(new HandBackException.Busy(system.system(), system.code(), wait,
                        system.maxWait()), String.valueOf(e.getMessage()));
    }

    private ModelAnswer sent(ToolCall call, ConfiguredModel model, Held held, TextListener listener)
            throws ToolFailure, InterruptedException {
        call.execution().waitBegins();
        try (BusySystems.Pass pass = busy.enter(system(model), UNAVAILABLE)) {
            ModelRequest request = held.request();
            JsonNode document = Json.MAPPER.valueToTree(request);
            String sha256 = Json.digest(document);
            String known = model.background() ? call.execution().sent().resume(sha256) : null;
            Admission admission = known == null ? admit(call, model, held) : null;
            if (known == null) {
                call.execution().sent().sending(model.name(), sha256, held.maxInput(), request.maxOutputTokens())
                        .forEach(this::cancel);
            }
            Duration timeout = call.deadline().remaining();
            CompletableFuture<ModelAnswer> sent = model.background()
                    ? client.sendStored(model.endpoint(), request, timeout,
                            new Recorded(known, call.execution().sent()))
                    : client.send(model.endpoint(), request, timeout, listener);
            try {
                ModelAnswer answer = sent.get();
                call.execution().waitEnds();
                call.execution().sent().ended(answer.estimated() ? null : answer.usage());
                correct(admission, answer.estimated() ? null : answer.usage());
                if (model.recorded() == RecordRequests.ALL) {
                    store(call, document);
                }
                return answer.estimated()
                        ? answer.using(new Tokens(held.maxInput(), 0, 0, request.maxOutputTokens(), 0))
                        : answer;
            } catch (InterruptedException e) {
                sent.cancel(true);
                throw e;
            } catch (ExecutionException e) {
                call.execution().waitEnds();
                if (e.getCause() instanceof ModelException failure) {
                    end(call, failure);
                    correct(admission,
                            failure.lost() ? null : Objects.requireNonNullElse(failure.usage(), Tokens.NONE));
                    ToolFailure reported = failure(model, failure, pass);
                    if (model.recorded() != RecordRequests.NONE) {
                        store(call, document);
                    }
                    throw reported;
                }
                if (e.getCause() instanceof InterruptedException lost) {
                    throw lost;
                }
                throw new IllegalStateException("a request to a model broke", e.getCause());
            }
        }
    }

    /** Waits for the limits per minute, whose numbers of requests the claim of the step has counted. */
    private Admission admit(ToolCall call, ConfiguredModel model, Held held) throws InterruptedException {
        Admission admission = rates.take(call.workspaceId(), model.name(), true,
                held.maxInput() + held.request().maxOutputTokens(), RATE_WAIT);
        Duration wait = Objects.requireNonNullElse(admission.pause(), MAX_BACK);
        if (!admission.admitted()) {
            throw new HandBackException(new HandBackException.Busy(system(model), UNAVAILABLE,
                    wait.compareTo(MAX_BACK) < 0 ? wait : MAX_BACK),
                    "the workspace's limit " + admission.limit() + " admits no request now");
        }
        TimeUnit.NANOSECONDS.sleep(wait.toNanos());
        return admission;
    }

    /** @param tokens null if they are unknown */
    private void correct(@Nullable Admission admission, @Nullable Tokens tokens) {
        if (admission != null && tokens != null) {
            rates.correct(admission, tokens.total());
        }
    }

    private static void end(ToolCall call, ModelException failure) {
        Tokens reported = failure.usage();
        if (!failure.lost() && reported != null) {
            call.execution().sent().ended(reported);
        } else if (!failure.lost()) {
            call.execution().sent().refused();
        } else if (reported != null) {
            call.execution().sent().brokeOff(reported);
        }
    }

    private void cancel(SentRequests.Kept answer) {
        models.configured().find(answer.model()).ifPresent(its -> client.cancelStored(its.endpoint(), answer.id()));
    }

    /** @param known null if absent */
    private record Recorded(@Nullable String known, SentRequests sent) implements StoredAnswer {
        @Override
        public void begun(String id, Runnable cancel) throws InterruptedException {
            sent.begun(id, cancel);
        }

        @Override
        public void gone() {
            sent.gone();
        }
    }

    /** Keeps a request whose answer cannot be used, unless it is kept in any case. */
    public static void refused(ToolCall call, ConfiguredModel model, ModelRequest request) {
        if (model.recorded() == RecordRequests.FAILED) {
            store(call, Json.MAPPER.valueToTree(request));
        }
    }

    private static void store(ToolCall call, JsonNode request) {
        call.keepRequest(Json.digest(request), Json.write(request));
    }

    private static ToolFailure failure(ConfiguredModel model, ModelException e, BusySystems.Pass pass) {
        String message = e.getMessage() + (e.requestId() == null ? "" : " (request " + e.requestId() + ")");
        ToolFailure failure = switch (e.kind()) {
            case DEFERRED -> throw pass.busy(e.retryAfter(), message);
            case QUOTA -> new ToolFailure("MODEL_QUOTA", ErrorClass.BUDGET, message);
            case KEY_REFUSED -> ToolFailure.permanent("MODEL_KEY_REFUSED", message);
            case BAD_REQUEST -> ToolFailure.permanent("MODEL_REQUEST_REFUSED", message);
            case CONTEXT_OVERFLOW -> ToolFailure.permanent("CONTEXT_OVERFLOW", message);
            case UNAVAILABLE, INTERRUPTED -> {
                HandBackException back = pass.outOfOrder(message);
                if (e.usage() == null) {
                    throw back;
                }
                yield ToolFailure.infrastructure(UNAVAILABLE, message).outOfOrder(system(model));
            }
            case TIMED_OUT -> ToolFailure.infrastructure(UNAVAILABLE, message);
            case UNREADABLE -> ToolFailure.infrastructure("MODEL_ANSWER_UNREADABLE", message);
        };
        Tokens usage = e.usage();
        return usage == null || e.lost() ? failure : failure.spending(new ToolUsage(model.name(), usage, null));
    }

    /** The usage of an answer, priced by the price list. */
    public static ToolUsage usage(String model, ModelAnswer answer) {
        return usage(model, answer, model);
    }

    /**
     * The same.
     *
     * @param asked the model that was to be used
     */
    public static ToolUsage usage(String model, ModelAnswer answer, String asked) {
        return answer.usage().none() ? ToolUsage.NONE
                : new ToolUsage(model, answer.usage(), null, asked.equals(model) ? null : asked, answer.estimated());
    }
}
