package io.keelson.server.annex.model.wire;

import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelException.Kind;
import io.keelson.server.annex.model.StoredAnswer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Begins an answer in the background at its provider, or finds one that was begun before, and fetches it when it is there. */
final class BackgroundAnswer {
    private static final Set<String> UNDER_WAY = Set.of("queued", "in_progress");
    private static final int NOT_FOUND = 404;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    /** The requests of such an answer. */
    interface Requests {

        /** Asks the provider to begin it. */
        <T> CompletableFuture<T> begin(Reader<T> reader);

        /** Asks for it. */
        <T> CompletableFuture<T> fetch(String id, Reader<T> reader);

        /** Asks the provider to stop making it, and does not wait for that. */
        void cancel(String id);
    }

    /** Takes the document of a response. */
    @FunctionalInterface
    interface Reader<T> {
        /** @param document null where the provider has none */
        T read(int status, @Nullable JsonNode document) throws ModelException, InterruptedException;
    }

    /** Makes an answer out of a document of a provider that has ended. */
    @FunctionalInterface
    interface Ending {
        ModelAnswer answer(JsonNode document) throws ModelException;
    }

    private record Seen(String id, boolean ended, @Nullable ModelAnswer answer) {}

    private final Requests requests;
    private final Ending ending;
    private final StoredAnswer stored;
    private final CompletableFuture<ModelAnswer> result = new CompletableFuture<>();
    private volatile CompletableFuture<?> current = new CompletableFuture<>();

    BackgroundAnswer(Requests requests, Ending ending, StoredAnswer stored) {
        this.requests = requests;
        this.ending = ending;
        this.stored = stored;
    }

    CompletableFuture<ModelAnswer> get() {
        result.whenComplete((answer, failure) -> current.cancel(true));
        String known = stored.known();
        if (known == null) {
            follow(requests.begin((status, document) -> seen(noted(document), document)), FIRST_PAUSE);
        } else {
            fetch(known, FIRST_PAUSE);
        }
        return result;
    }

    /** The id of a new answer, which is written before anything else. */
    private String noted(@Nullable JsonNode document) throws ModelException, InterruptedException {
        String id = document == null ? "" : document.path("id").asString("");
        if (id.isEmpty()) {
            throw new ModelException(Kind.UNREADABLE, "the response in the background has no 'id'", null, null, null);
        }
        note(id);
        return id;
    }

    private void note(String id) throws InterruptedException {
        try {
            stored.begun(id, () -> requests.cancel(id));
        } catch (InterruptedException e) {
            requests.cancel(id);
            throw e;
        }
    }

    private void fetch(String id, Duration pause) {
        follow(requests.fetch(id, (status, document) -> {
            if (status == NOT_FOUND || document == null) {
                stored.gone();
                throw new ModelException(Kind.INTERRUPTED, "the provider has no response " + id + " any more", null,
                        null, null);
            }
            if (stored.known() != null) {
                note(id);
            }
            return seen(id, document);
        }), pause);
    }

    private Seen seen(String id, @Nullable JsonNode document) throws ModelException {
        if (document == null) {
            throw new ModelException(Kind.UNREADABLE, "the response " + id + " is empty", null, null, null);
        }
        String status = document.path("status").asString("");
        if (UNDER_WAY.contains(status)) {
            return new Seen(id, false, null);
        }
        try {
            if (status.equals("cancelled")) {
                throw new ModelException(Kind.INTERRUPTED, "the response " + id + " was cancelled", null, null, null);
            }
            return new Seen(id, true, ending.answer(document));
        } catch (ModelException e) {
            stored.gone();
            throw e;
        }
    }

    private void follow(CompletableFuture<Seen> asked, Duration pause) {
        current = asked;
        if (result.isDone()) {
            asked.cancel(true);
        }
        var _ = asked.whenComplete((seen, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
            } else if (seen.answer() != null) {
                result.complete(seen.answer());
            } else if (!result.isDone()) {
                Duration next = pause.multipliedBy(2);
                CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS).execute(() -> {
                    if (!result.isDone()) {
                        fetch(seen.id(), next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE);
                    }
                });
            }
        });
    }
}
