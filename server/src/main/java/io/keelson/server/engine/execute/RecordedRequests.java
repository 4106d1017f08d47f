package io.keelson.server.engine.execute;

import io.keelson.core.money.Tokens;
import io.keelson.core.run.LostAnswer;
import io.keelson.server.artifact.StoredArtifact;
import io.keelson.server.json.Json;
import io.keelson.server.tool.SentRequests;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The requests to models of one execution, written to the details of its step before each of them is sent. */
public final class RecordedRequests implements SentRequests {
    private static final String MEMBER = "model_requests";

    private final Predicate<String> details;
    private final Clock clock;
    private final List<LostAnswer> all = new ArrayList<>();
    private final List<StoredArtifact> stored = new ArrayList<>();
    private boolean waiting;

    /** @param details writes the step's details; false when the lease is lost */
    RecordedRequests(Predicate<String> details, Clock clock) {
        this.details = details;
        this.clock = clock;
    }

    @Override
    public synchronized void sending(String model, String requestSha256, long inputTokens, long outputTokens)
            throws InterruptedException {
        all.add(new LostAnswer(model, requestSha256, clock.instant(),
                new Tokens(inputTokens, 0, 0, outputTokens, 0)));
        if (!details.test(text())) {
            all.removeLast();
            throw new InterruptedException("the lease was lost before a request to " + model + " was sent");
        }
        waiting = true;
    }

    @Override
    public synchronized void ended() {
        waiting = false;
    }

    @Override
    public synchronized void stored(StoredArtifact request) {
        stored.add(request);
    }

    /** The requests that are kept as artifacts. */
    synchronized List<StoredArtifact> stored() {
        return List.copyOf(stored);
    }

    /** Requests whose end this execution has not seen. */
    synchronized List<LostAnswer> open() {
        return waiting ? List.of(all.getLast()) : List.of();
    }

    /** All requests: none of their answers is reported. */
    synchronized List<LostAnswer> all() {
        return List.copyOf(all);
    }

    private String text() {
        ObjectNode document = Json.object();
        ArrayNode requests = document.putArray(MEMBER);
        for (LostAnswer each : all) {
            requests.addObject().put("model", each.model()).put("request_sha256", each.requestSha256())
                    .put("sent_at", each.sentAt().toString()).put("input_tokens", each.estimate().input())
                    .put("output_tokens", each.estimate().output());
        }
        return document.toString();
    }

    /**
     * The requests in the details of a step whose holder is gone.
     *
     * @param details null for none; those of a worker may be anything
     */
    public static List<LostAnswer> in(@Nullable String details) {
        if (details == null) {
            return List.of();
        }
        try {
            List<LostAnswer> found = new ArrayList<>();
            for (JsonNode each : Json.read(details).path(MEMBER)) {
                found.add(new LostAnswer(each.path("model").stringValue(), each.path("request_sha256").stringValue(),
                        Instant.parse(each.path("sent_at").stringValue()),
                        new Tokens(each.path("input_tokens").longValue(), 0, 0, each.path("output_tokens").longValue(),
                                0)));
            }
            return found;
        } catch (JacksonException | DateTimeException | IllegalArgumentException e) {
            return List.of();
        }
    }
}
