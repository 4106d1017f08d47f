package io.keelson.server.engine.execute;

import io.keelson.core.money.Tokens;
import io.keelson.core.run.LostAnswer;
import io.keelson.core.run.LostAnswer.Reported;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.SentRequests;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

        /** The details that an execution wrote last, this one or an earlier one; null if absent. */
        @Nullable String read();
    }

    private final Details details;
    private final boolean again;
    private final Clock clock;
    /** Lost answers of this execution, in the order of their requests. */
    private final List<LostAnswer> all = new ArrayList<>();
    /** Lost answers of earlier executions, whose requests this one does not repeat. */
    private final List<LostAnswer> superseded = new ArrayList<>();
    private final List<StoredArtifact> stored = new ArrayList<>();
    private final List<Runnable> cancels = new ArrayList<>();
    /** Lost answers of earlier executions that this one can still fetch; null until they are read. */
    private @Nullable List<LostAnswer> earlier;
    private boolean waiting;

    /** @param again whether the step may have been executed before */
    RecordedRequests(Details details, boolean again, Clock clock) {
        this.details = details;
        this.again = again;
        this.clock = clock;
    }

    @Override
    public synchronized List<Kept> sending(String model, String requestSha256, long inputTokens, long outputTokens)
            throws InterruptedException {
        List<LostAnswer> unused = List.copyOf(earlier());
        earlier().clear();
        superseded.addAll(unused.stream().map(LostAnswer::withoutResponseId).toList());
        all.add(new LostAnswer(model, requestSha256, clock.instant(), new Tokens(inputTokens, 0, 0, outputTokens, 0),
                null));
        if (!details.write(text())) {
            all.removeLast();
            throw new InterruptedException("the lease was lost before a request to " + model + " was sent");
        }
        waiting = true;
        return unused.stream().map(each -> new Kept(each.model(), Objects.requireNonNull(each.responseId()))).toList();
    }

    @Override
    public synchronized @Nullable String resume(String requestSha256) {
        LostAnswer found = earlier().stream().filter(each -> each.requestSha256().equals(requestSha256)).findFirst()
                .orElse(null);
        if (found == null) {
            return null;
        }
        earlier().remove(found);
        all.add(found);
        waiting = true;
        return found.responseId();
    }

    @Override
    public synchronized void begun(String id, Runnable cancel) throws InterruptedException {
        cancels.add(cancel);
        LostAnswer last = all.removeLast();
        all.add(last.withResponseId(id));
        if (!id.equals(last.responseId()) && !details.write(text())) {
            throw new InterruptedException("the lease was lost while " + last.model() + " began an answer");
        }
    }

    @Override
    public synchronized void gone() {
        all.add(all.removeLast().withoutResponseId());
        cancels.clear();
        details.write(text());
    }

    @Override
    public synchronized void ended(@Nullable Tokens reported) {
        waiting = false;
        cancels.clear();
        if (reported != null) {
            all.add(all.removeLast().using(reported, Reported.ALL));
        }
    }

    @Override
    public synchronized void refused() {
        if (all.getLast().responseId() == null) {
            waiting = false;
            all.removeLast();
        }
    }

    @Override
    public synchronized void brokeOff(Tokens reported) {
        LostAnswer last = all.removeLast();
        all.add(last.using(new Tokens(reported.input(), reported.cacheRead(), reported.cacheWrite(),
                Math.max(reported.output(), last.tokens().output()), reported.reasoning()), Reported.INPUT));
    }

    @Override
    public synchronized void stored(StoredArtifact request) {
        stored.add(request);
    }

    /** The requests that are kept as artifacts. */
    synchronized List<StoredArtifact> stored() {
        return List.copyOf(stored);
    }

    /** For a result: answers of earlier executions that it does not use. */
    synchronized List<LostAnswer> unused() {
        return Stream.concat(superseded.stream(), earlier == null ? Stream.empty() : earlier.stream()).toList();
    }

    /** For a failure that costs nothing, and for a deferral: also the request whose end this execution has not seen. */
    synchronized List<LostAnswer> open() {
        earlier();
        return Stream.concat(unused().stream(), waiting ? Stream.of(all.getLast()) : Stream.empty()).toList();
    }

    /**
     * Called before the usage of the answers is reported with a failure: no further execution fetches an answer, and
     * providers are requested to cancel unfinished ones.
     *
     * @return the answers of {@link #open}
     */
    synchronized List<LostAnswer> reported() {
        List<LostAnswer> unseen = open().stream().map(LostAnswer::withoutResponseId).toList();
        forget();
        return unseen;
    }

    /** For a step that goes back: requests whose answers are not reported. */
    synchronized List<LostAnswer> unreported() {
        return Stream.concat(unused().stream(), all.stream()).toList();
    }

    /** None of the answers is reported or fetched. */
    synchronized List<LostAnswer> all() {
        return unreported().stream().map(LostAnswer::withoutResponseId).toList();
    }

    /**
     * No further execution fetches an answer. The requests stay in the details without their ids: if the process ends before the
     * failure is recorded, they are named all the same.
     *
     * @return as {@link #all}
     */
    synchronized List<LostAnswer> abandon() {
        earlier();
        List<LostAnswer> lost = all();
        forget();
        return lost;
    }

    private void forget() {
        if (Stream.concat(all.stream(), earlier().stream()).anyMatch(each -> each.responseId() != null)) {
            all.replaceAll(LostAnswer::withoutResponseId);
            superseded.addAll(earlier().stream().map(LostAnswer::withoutResponseId).toList());
            earlier().clear();
            if (details.write(text())) {
                cancel();
            }
        }
    }

    /** Cancels answers that providers produce in the background. */
    synchronized void cancel() {
        cancels.forEach(Runnable::run);
        cancels.clear();
    }

    private List<LostAnswer> earlier() {
        if (earlier == null) {
            earlier = again ? in(details.read()).stream().filter(each -> each.responseId() != null)
                    .collect(Collectors.toCollection(ArrayList::new)) : new ArrayList<>();
        }
        return earlier;
    }

    private String text() {
        ObjectNode document = Json.object();
        ArrayNode requests = document.putArray(MEMBER);
        unreported().forEach(each -> {
            ObjectNode request = requests.addObject().put("model", each.model())
                    .put("request_sha256", each.requestSha256()).put("sent_at", each.sentAt().toString())
                    .put("reported", each.reported().name());
            request.set("tokens", Json.tree(each.tokens().members()));
            if (each.responseId() != null) {
                request.put(ID, each.responseId());
            }
        });
        return document.toString();
    }

    /**
     * The requests in the details of a step whose holder is gone.
     *
     * @param details null if absent; details of a worker may have any form
     */
    public static List<LostAnswer> in(@Nullable String details) {
        if (details == null) {
            return List.of();
        }
        try {
            List<LostAnswer> found = new ArrayList<>();
            for (JsonNode each : Json.read(details).path(MEMBER)) {
                found.add(new LostAnswer(each.path("model").stringValue(), each.path("request_sha256").stringValue(),
                        Instant.parse(each.path("sent_at").stringValue()), tokens(each.path("tokens")),
                        Reported.valueOf(each.path("reported").stringValue()), each.path(ID).asString(null)));
            }
            return found;
        } catch (JacksonException | DateTimeException | IllegalArgumentException e) {
            return List.of();
        }
    }

    private static Tokens tokens(JsonNode parts) {
        return new Tokens(parts.path("input").longValue(), parts.path("cache_read").longValue(),
                parts.path("cache_write").longValue(), parts.path("output").longValue(),
                parts.path("reasoning").longValue());
    }
}
