package io.keelson.server.app.metrics;

import io.keelson.core.decide.ChangeSet.StepResult;
import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.wiring.ModelObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Counts the use of models; the number of models is bounded. */
public final class ModelMeters implements ModelObserver {
    private static final int MAX_MODELS = 100;
    private static final String OTHER = "other";

    private record Of(Counter input, Counter cacheRead, Counter cacheWrite, Counter output, ExactCounter cost,
            Timer firstText, Counter deferrals, Counter sent, Counter replayed, Counter diverged, Counter refused,
            Counter tooMany, Counter unread) {}

    private final Meters meters;
    private final Map<String, Of> models = new ConcurrentHashMap<>();

    ModelMeters(Meters meters) {
        this.meters = meters;
        models.put(OTHER, made(OTHER));
    }

    private Of made(String model) {
        return new Of(meters.counter(Metric.MODEL_TOKENS, model, "input"),
                meters.counter(Metric.MODEL_TOKENS, model, "cache_read"),
                meters.counter(Metric.MODEL_TOKENS, model, "cache_write"),
                meters.counter(Metric.MODEL_TOKENS, model, "output"),
                new ExactCounter(meters, Metric.MODEL_COST, model),
                meters.timer(Metric.MODEL_FIRST_TEXT, model), meters.counter(Metric.MODEL_DEFERRALS, model),
                meters.counter(Metric.GATEWAY_REQUESTS, model, "sent"),
                meters.counter(Metric.GATEWAY_REQUESTS, model, "replayed"),
                meters.counter(Metric.GATEWAY_REQUESTS, model, "diverged"),
                meters.counter(Metric.GATEWAY_REQUESTS, model, "refused"),
                meters.counter(Metric.GATEWAY_REQUESTS, model, "too_many"),
                meters.counter(Metric.GATEWAY_REQUESTS, model, "unread"));
    }

    private Of of(String model) {
        Of known = models.get(model);
        return known != null ? known
                : models.computeIfAbsent(models.size() < MAX_MODELS ? model : OTHER, this::made);
    }

    /** The committed result of a step. */
    void used(StepResult result) {
        String model = result.model();
        Tokens tokens = result.tokens();
        if (model != null && !tokens.none()) {
            Of of = of(model);
            of.input.increment(tokens.input());
            of.cacheRead.increment(tokens.cacheRead());
            of.cacheWrite.increment(tokens.cacheWrite());
            of.output.increment(tokens.output());
            of.cost.add(result.cost());
        }
    }

    @Override
    public void onAnswer(String model, long firstTextMillis) {
        of(model).firstText.record(firstTextMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void onPause(String model) {
        of(model).deferrals.increment();
    }

    @Override
    public void onRequest(String model) {
        of(model).sent.increment();
    }

    @Override
    public void onReplay(String model) {
        of(model).replayed.increment();
    }

    @Override
    public void onDivergence(String model) {
        of(model).diverged.increment();
    }

    @Override
    public void onRefusedHold(String model) {
        of(model).refused.increment();
    }

    @Override
    public void onTooMany(String model) {
        of(model).tooMany.increment();
    }

    @Override
    public void onUnread(String model) {
        of(model).unread.increment();
    }
}
