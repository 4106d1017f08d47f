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
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The requests to models of one execution, written to the details of its step before each of them is sent. */
public final class RecordedRequests implements SentRequests {
    private static final String MEMBER = "model_requests";
    private static final String ID = "response_id";

    /** The details of the step of an execution. */
    public interface Details {

        /** Writes them at once, JSON text; false when the lease is lost. */
        boolean write(String text);

        /** Those that an execution wrote last, this one or an earlier one; null for none. */
        @Nullable String read();
    }

    /** @param id by which the provider keeps the answer; null for none */
    private record Sent(LostAnswer answer, @Nullable String id) {}

    private final Details details;
    private final Clock clock;
    private final List<Sent> all = new ArrayList<>();
    private final List<StoredArtifact> stored = new ArrayList<>();
    private final List<Runnable> cancels = new ArrayList<>();
    private boolean waiting;

    RecordedRequests(Details details, Clock clock) {
        this.details = details;
        this.clock = clock;
    }

    @Override
    public synchronized void sending(String model, String requestSha256, long inputTokens, long outputTokens)
            throws InterruptedException {
        all.add(new Sent(new LostAnswer(model, requestSha256, clock.instant(),
                new Tokens(inputTokens, 0, 0, outputTokens, 0)), null));
        if (!details.write(text())) {
            all.removeLast();
            throw new InterruptedException("the lease was lost before a request to " + model + " was sent");
        }
        waiting = true;
    }

    @Override
    public synchronized @Nullable String resume(String requestSha256) {
        Sent found = read(details.read()).stream()
                .filter(each -> each.id != null && each.answer.requestSha256().equals(requestSha256)).findFirst()
                .orElse(null);
        if (found == null) {
            return null;
        }
        all.add(found);
        waiting = true;
        return found.id;
    }

    @Override
    public synchronized void begun(String id, Runnable cancel) throws InterruptedException {
        cancels.add(cancel);
        Sent last = all.removeLast();
        all.add(new Sent(last.answer, id));
        if (!id.equals(last.id) && !details.write(text())) {
            throw new InterruptedException("the lease was lost while " + last.answer.model() + " began an answer");
        }
    }

    @Override
    public synchronized void gone() {
        Sent last = all.removeLast();
        all.add(new Sent(last.answer, null));
        details.write(text());
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

    /** Requests whose end this execution has not seen, and no other can fetch. */
    synchronized List<LostAnswer> open() {
        return waiting ? lost(List.of(all.getLast())) : List.of();
    }

    /**
     * The usage of the answers so far is about to be reported with a failure: no further execution fetches one of them.
     *
     * @return the request whose end this execution has not seen, which its provider is asked to stop; empty for none
     */
    synchronized List<LostAnswer> reported() {
        List<LostAnswer> unseen = waiting ? List.of(all.getLast().answer) : List.of();
        if (all.stream().anyMatch(each -> each.id != null)) {
            if (waiting && all.getLast().id != null) {
                cancels.getLast().run();
            }
            all.replaceAll(each -> new Sent(each.answer, null));
            details.write(text());
        }
        return unseen;
    }

    /** Requests whose answers are not reported, but for those that the next execution fetches. */
    synchronized List<LostAnswer> unreported() {
        return lost(all);
    }

    /** All requests: none of their answers is reported or fetched. */
    synchronized List<LostAnswer> all() {
        return all.stream().map(Sent::answer).toList();
    }

    /** No further execution fetches an answer of this one. */
    synchronized void abandon() {
        if (!cancels.isEmpty()) {
            details.write(Json.object().toString());
            cancel();
        }
    }

    /** Has providers stop what they make in the background. */
    synchronized void cancel() {
        cancels.forEach(Runnable::run);
        cancels.clear();
    }

    private static List<LostAnswer> lost(List<Sent> sent) {
        return sent.stream().filter(each -> each.id == null).map(Sent::answer).toList();
    }

    private String text() {
        ObjectNode document = Json.object();
        ArrayNode requests = document.putArray(MEMBER);
        for (Sent each : all) {
            LostAnswer answer = each.answer;
            ObjectNode request = requests.addObject().put("model", answer.model())
                    .put("request_sha256", answer.requestSha256()).put("sent_at", answer.sentAt().toString())
                    .put("input_tokens", answer.estimate().input()).put("output_tokens", answer.estimate().output());
            if (each.id != null) {
                request.put(ID, each.id);
            }
        }
        return document.toString();
    }

    /**
     * The requests in the details of a step whose holder is gone, but for those whose answers can be fetched.
     *
     * @param details null for none; those of a worker may be anything
     */
    public static List<LostAnswer> in(@Nullable String details) {
        return lost(read(details));
    }

    private static List<Sent> read(@Nullable String details) {
        if (details == null) {
            return List.of();
        }
        try {
            List<Sent> found = new ArrayList<>();
            for (JsonNode each : Json.read(details).path(MEMBER)) {
                LostAnswer answer = new LostAnswer(each.path("model").stringValue(),
                        each.path("request_sha256").stringValue(), Instant.parse(each.path("sent_at").stringValue()),
                        new Tokens(each.path("input_tokens").longValue(), 0, 0, each.path("output_tokens").longValue(),
                                0));
                found.add(new Sent(answer, each.path(ID).asString(null)));
            }
            return found;
        } catch (JacksonException | DateTimeException | IllegalArgumentException e) {
            return List.of();
        }
    }
}
