package io.keelson.server.api.http.runs;

import io.keelson.api.run.Archive;
import io.keelson.api.run.ArchiveCheck;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ArchivedRuns;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.archive.ArchiveContentReader;
import io.keelson.server.engine.store.archive.ArchiveException;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.archive.RunArchive.Place;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/** Routes about the archive: its size, the check of its contents, and the return of runs. */
public final class ArchiveActions {

    private final Reads reads;
    private final Database database;
    private final ArchivedRuns archived;
    private final ArchiveContentReader contents;
    private final RunArchive archive = new RunArchive(DbClock.DATABASE);

    public ArchiveActions(Reads reads, Database database, ArchivedRuns archived, ArchiveContentReader contents) {
        this.reads = reads;
        this.database = database;
        this.archived = archived;
        this.contents = contents;
    }

    public void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/archive", this::use);
        table.get(Scope.ADMIN, "/archive/verify", this::verify);
        table.post(Scope.RUNS_WRITE, "/runs/{id}/restore", this::restore);
    }

    private ApiResponse use(ApiRequest request) {
        RunArchive.Use use = database.withConnection(c -> RunArchive.use(c, request.workspace()));
        return ApiResponse.resource(
                Json.document(new Archive(use.runs(), use.objects(), use.bytes(), use.oldest(), use.newest())));
    }

    /** Reads the contents of some runs. */
    private ApiResponse verify(ApiRequest request) {
        ListCursor cursor = new ListCursor("archive");
        UUID after = cursor.read(request.query(), UUID::fromString);
        int limit = request.query().limit();
        List<Place> page = database.withConnection(c -> RunArchive.page(c, request.workspace(), after, limit + 1));
        List<Place> these = page.subList(0, Math.min(limit, page.size()));
        long rows = 0;
        long bytes = 0;
        List<ArchiveCheck.Damage> damaged = new ArrayList<>();
        for (Place run : these) {
            bytes += run.sizeBytes();
            try {
                rows += RunArchive.verify(run, contents.read(run));
            } catch (IOException e) {
                String problem = e instanceof ArchiveException known ? known.problem().name().toLowerCase(Locale.ROOT)
                        : "store_failed";
                damaged.add(new ArchiveCheck.Damage(run.runId().toString(), problem, String.valueOf(e.getMessage())));
            }
        }
        return ApiResponse.ok(Json.document(new ArchiveCheck(these.size(), rows, bytes, damaged,
                page.size() > limit ? cursor.write(these.getLast().runId().toString()) : null)));
    }

    /** A run that is not archived stays as it is. The runs whose outputs it reads come back before it. */
    private ApiResponse restore(ApiRequest request) {
        UUID id = request.id("id", IdKind.RUN);
        archived.find(request.workspace(), id).ifPresent(run -> {
            for (Place each : archived.withSources(run)) {
                restore(request, each);
            }
        });
        return ApiResponse.resource(reads.run(request.workspace(), id));
    }

    private void restore(ApiRequest request, Place run) {
        byte[] content = archived.content(run);
        try {
            database.runInTransaction(c -> {
                try {
                    if (archive.restore(c, run, content, String.valueOf(request.actor().id()))) {
                        AuditLog.write(c, request.origin(), "run_restored", run.workspaceId(), run.runId().toString(),
                                Json.object());
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw ArchivedRuns.unreadable(run, Objects.requireNonNull(e.getCause()));
        }
    }
}
