package io.keelson.client;

import io.keelson.api.run.BulkJob;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Commands to all runs that a filter finds, which the server carries out little by little. Every method throws
 * {@link KeelsonException} as {@link Api} says.
 */
public final class Bulk {

    private static final int PAGE = 500;

    private final Api api;

    Bulk(Api api) {
        this.api = api;
    }

    /** Counts the runs that {@link #cancel} would match, up to 100,000; changes nothing. */
    public long countToCancel(RunFilter filter) {
        return count("/runs:cancel", filter);
    }

    /** Counts the runs that {@link #retry} would match, up to 100,000; changes nothing. */
    public long countToRetry(RunFilter filter) {
        return count("/runs:retry", filter);
    }

    private long count(String path, RunFilter filter) {
        return api.send(Call.post(path, body(filter).put("dry_run", true)).repeatable()).body().get("matches")
                .longValue();
    }

    /**
     * Cancels the runs that are open now.
     *
     * @param filter must say something
     * @param reason for the record; null if absent
     * @param key the same for repetitions of one request, which then has effect once
     */
    public BulkJob cancel(RunFilter filter, @Nullable String reason, String key) {
        return begin("/runs:cancel", body(filter).put("reason", reason), key);
    }

    /**
     * Opens the next attempt of the runs that have failed by now.
     *
     * @param perSecond at most so many, from 1 to 1,000; null for the server's default
     * @param key as of {@link #cancel}
     */
    public BulkJob retry(RunFilter filter, RetryFrom from, @Nullable Integer perSecond, String key) {
        ObjectNode body = body(filter).put("from", from.name().toLowerCase(Locale.ROOT));
        if (perSecond != null) {
            body.put("per_second", perSecond);
        }
        return begin("/runs:retry", body, key);
    }

    private BulkJob begin(String path, ObjectNode body, String key) {
        return job(Call.post(path, body).keyed(key));
    }

    private static ObjectNode body(RunFilter filter) {
        ObjectNode body = Json.object();
        body.set("filter", filter.toJson());
        return body;
    }

    /** Reads a bulk job. */
    public BulkJob get(String id) {
        return job(Call.get(RequestPath.of("/bulk/", id)));
    }

    /** All of them, newest first. */
    public List<BulkJob> list() {
        return Page.all(cursor -> list(cursor, PAGE));
    }

    /**
     * Newest first.
     *
     * @param cursor where the page before ended; null for the first one
     * @param limit at most so many, up to 500
     */
    public Page<BulkJob> list(@Nullable String cursor, int limit) {
        return Page.of(api.get(RequestPath.of("/bulk").with("cursor", cursor).with("limit", limit).toString()),
                BulkJob.class);
    }

    /** Stops the job; runs that it has already changed stay changed. */
    public BulkJob stop(String id) {
        return job(Call.post(RequestPath.of("/bulk/", id, "/stop"), Json.object()).repeatable());
    }

    private BulkJob job(Call call) {
        return Json.document(api.send(call).body(), BulkJob.class);
    }
}
