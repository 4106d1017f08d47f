package io.keelson.server.http;

import io.keelson.server.artifact.ArtifactStore;
import io.keelson.server.auth.Scope;
import io.keelson.server.db.Database;
import io.keelson.server.run.ArtifactLife;
import io.keelson.server.run.RunReader;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

/** Artifacts of a run and their content. What a browser is sent it saves and never shows: it may be anything. */
final class ArtifactActions {

    private static final Pattern MEDIA_TYPE =
            Pattern.compile("[\\w.+-]{1,100}/[\\w.+-]{1,100}(; ?[\\w.+=\"-]{1,100})*");

    private final Reads reads;
    /** For so long at least somebody who has found an artifact can go on reading it. */
    private static final Duration READERS = Duration.ofHours(1);

    private final ArtifactStore store;
    private final Database database;
    private final ArtifactLife life;

    ArtifactActions(Reads reads, ArtifactStore store, Database database, ArtifactLife life) {
        this.reads = reads;
        this.store = store;
        this.database = database;
        this.life = life;
    }

    void addTo(Route.Table table) {
        table.delete(Scope.RUNS_WRITE, "/runs/{id}/artifacts/{artifact}", this::delete);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/artifacts", this::list);
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/artifacts/{artifact}/content", this::content);
    }

    private Answer list(Call call) {
        UUID run = call.id("id", IdKind.RUN);
        return new Portion(call, "artifacts " + run)
                .of(reads.ofRun(call.workspace(), run, (runs, c) -> runs.artifacts(c, call.workspace(), run)));
    }

    private Answer content(Call call) throws IOException {
        call.query().done();
        UUID run = call.id("id", IdKind.RUN);
        UUID id = call.id("artifact", IdKind.ARTIFACT);
        RunReader.ArtifactFile file = reads.ofRun(call.workspace(), run,
                (runs, c) -> Reads.found(runs.artifact(c, call.workspace(), run, id), IdKind.ARTIFACT, id));
        if (!database.inTransaction(c -> life.access(c, id, READERS))) {
            throw Refusal.of(ErrorCode.ARTIFACT_GONE, "it was deleted, or the time is over for which it was kept");
        }
        String tag = ETag.of(file.sha256());
        if (ETag.matches(call.header("If-None-Match"), tag)) {
            return Answer.empty(304).header("ETag", tag);
        }
        try {
            String type = MEDIA_TYPE.matcher(file.contentType()).matches() ? file.contentType()
                    : "application/octet-stream";
            return Answer.stream(type, file.sizeBytes(), store.open(file.storageKey())).header("ETag", tag)
                    .header("Content-Disposition", "attachment; filename*=UTF-8''" + encoded(file.name()))
                    .header("Content-Security-Policy", "sandbox; default-src 'none'")
                    .header("Cache-Control", "private, no-cache");
        } catch (NoSuchFileException e) {
            throw Refusal.of(ErrorCode.ARTIFACT_CONTENT_MISSING, "the artifact store has no content for it any more");
        }
    }

    /** What is deleted already stays so. */
    private Answer delete(Call call) {
        call.query().done();
        UUID run = call.id("id", IdKind.RUN);
        UUID id = call.id("artifact", IdKind.ARTIFACT);
        reads.requireRun(call.workspace(), run);
        if (!database.inTransaction(c -> life.delete(c, call.workspace(), run, id))) {
            throw IdKind.ARTIFACT.notFound(id);
        }
        return Answer.empty(204);
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A");
    }
}
