package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ByteRange;
import io.keelson.server.api.http.support.ETag;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.ContentDamagedException;
import io.keelson.server.base.artifact.ContentLink;
import io.keelson.server.base.artifact.VerifiedContent;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Artifacts of a run and their content, whole or in part. A browser saves it; with {@code inline=true} it shows it without
 * scripts, requests and origin, because it may be anything.
 */
public final class ArtifactActions {

    private static final Pattern MEDIA_TYPE =
            Pattern.compile("[\\w.+-]{1,100}/[\\w.+-]{1,100}(; ?[\\w.+=\"-]{1,100})*");

    private static final Pattern PASSIVE_TYPE = Pattern.compile(
            "(?:text/(?:plain|csv|markdown)|application/(?:json|jsonl|pdf|zip|gzip|yaml)|image/(?:png|jpeg|gif|webp)"
                    + "|audio/[\\w.+-]+|video/[\\w.+-]+)(?:;.*)?");
    private static final String RETRY_SECONDS = "2";

    private static final String INLINE = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
            + "frame-ancestors 'self'";

    private final Reads reads;
    /** Minimum time for which an artifact that was requested stays readable. */
    private static final Duration READERS = Duration.ofHours(1);

    private final ArtifactStore store;
    private final Database database;
    private final ArtifactRetention life;

    public ArtifactActions(Reads reads, ArtifactStore store, Database database, ArtifactRetention life) {
        this.reads = reads;
        this.store = store;
        this.database = database;
        this.life = life;
    }

    public void addTo(Route.Table table) {
        table.delete(Scope.RUNS_WRITE, "/runs/{id}/artifacts/{artifact}", this::delete);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/artifacts", this::list);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/artifacts/{artifact}/content", this::content);
    }

    private ApiResponse list(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        return new ListPage(request, "artifacts " + run)
                .of(reads.ofRun(request.workspace(), run, (runs, c) -> runs.artifacts(c, request.workspace(), run)));
    }

    /**
     * An artifact that is read, and kept for its readers.
     *
     * @throws ApiProblem when the run has no such artifact, or has it no longer
     */
    public RunReader.ArtifactFile file(UUID workspace, UUID run, UUID id) {
        RunReader.ArtifactFile file = reads.ofRun(workspace, run,
                (runs, c) -> Reads.found(runs.artifact(c, workspace, run, id), IdKind.ARTIFACT, id));
        if (!database.inTransaction(c -> life.access(c, id, READERS))) {
            throw ApiProblem.of(ErrorCode.ARTIFACT_GONE, "the artifact was deleted, or its retention time is over");
        }
        return file;
    }

    /**
     * The bytes of an artifact.
     *
     * @param from the first byte
     * @throws ApiProblem when the store no longer has them
     */
    public InputStream open(RunReader.ArtifactFile file, long from) throws IOException {
        try {
            InputStream content = store.open(file.storageKey(), from);
            return from == 0 ? VerifiedContent.of(content, file.sha256()) : content;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** The refusal of a request whose content the store does not have or does not return at the moment. */
    static ApiProblem unreadable(IOException failure) {
        return switch (failure) {
            case NoSuchFileException e -> ApiProblem.of(ErrorCode.ARTIFACT_CONTENT_MISSING,
                    "the artifact store no longer has its content");
            case ContentDamagedException e -> ApiProblem.of(ErrorCode.ARTIFACT_CONTENT_DAMAGED,
                    "the artifact store has other content than was stored: " + e.getMessage());
            default -> ApiProblem.of(ErrorCode.ARTIFACT_STORE_FAILED,
                    "the artifact store does not return the content: " + failure.getMessage())
                    .header("Retry-After", RETRY_SECONDS);
        };
    }

    private ApiResponse content(ApiRequest request) throws IOException {
        RunReader.ArtifactFile file = file(request.workspace(), request.id("id", IdKind.RUN),
                request.id("artifact", IdKind.ARTIFACT));
        String tag = ETag.of(file.sha256());
        boolean inline = request.query().flag("inline");
        if (ETag.matches(request.header("If-None-Match"), tag)) {
            return ApiResponse.empty(304).header("ETag", tag);
        }
        URI link = request.query().flag("link") && !inline
                ? store.link(file.storageKey(), new ContentLink(disposition(file, false), linkedType(file)))
                : null;
        if (link != null) {
            return ApiResponse.empty(307).header("Location", link.toString()).header("Cache-Control", "no-store")
                    .header("Referrer-Policy", "no-referrer");
        }
        return part(request, file, tag).header("ETag", tag).header("Accept-Ranges", "bytes")
                .header("Content-Disposition", disposition(file, inline))
                .header("Content-Security-Policy", inline ? INLINE : "sandbox; default-src 'none'")
                .header("Cross-Origin-Resource-Policy", "same-origin")
                .header("Cache-Control", "private, no-cache");
    }

    /** The media type that an artifact is served as. */
    public static String type(RunReader.ArtifactFile file) {
        return MEDIA_TYPE.matcher(file.contentType()).matches() ? file.contentType() : "application/octet-stream";
    }

    private ApiResponse part(ApiRequest request, RunReader.ArtifactFile file, String tag) throws IOException {
        String condition = request.header("If-Range");
        ByteRange range = condition != null && !condition.equals(tag) ? null
                : ByteRange.of(request.header("Range"), file.sizeBytes());
        if (range == null) {
            return ApiResponse.stream(type(file), file.sizeBytes(), open(file, 0));
        }
        return ApiResponse.stream(type(file), range.length(), open(file, range.from())).as(206)
                .header("Content-Range", range.header(file.sizeBytes()));
    }

    /** A deleted artifact remains deleted. */
    private ApiResponse delete(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        UUID id = request.id("artifact", IdKind.ARTIFACT);
        reads.requireRun(request.workspace(), run);
        if (!database.inTransaction(c -> life.delete(c, request.workspace(), run, id))) {
            throw IdKind.ARTIFACT.notFound(id);
        }
        return ApiResponse.empty(204);
    }

    private static String disposition(RunReader.ArtifactFile file, boolean inline) {
        return (inline ? "inline" : "attachment") + "; filename*=UTF-8''" + encoded(file.name());
    }

    /** The media type at the store's address, where no policy restricts scripts: only types without scripts are named. */
    private static String linkedType(RunReader.ArtifactFile file) {
        String type = type(file);
        return PASSIVE_TYPE.matcher(type).matches() ? type : "application/octet-stream";
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A");
    }
}
