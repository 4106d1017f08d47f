package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.store.archive.ArchiveContentReader;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.archive.RunArchive.Place;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Requests about archived runs. A read inserts the rows of the run, answers as for any run, and takes the rows back ({@link
 * Database#undone}). A change is refused with {@code RUN_ARCHIVED}. Only requests that found no such run come here.
 */
public final class ArchivedRuns {

    private static final Pattern ROUTE =
            Pattern.compile("(?:/api/v1)?/(runs|tasks|steps|escalations|proposals|reports)/\\{id}.*");

    private static final Map<String, IdKind> KINDS =
            Map.of("runs", IdKind.RUN, "tasks", IdKind.TASK, "steps", IdKind.STEP,
                    "escalations", IdKind.ESCALATION, "proposals", IdKind.PROPOSAL, "reports", IdKind.REPORT);

    private static final int MAX_STREAM_BYTES = 32 << 20;
    private static final int READS_AT_ONCE = 2;
    private static final long PATIENCE_SECONDS = 10;
    private static final String UNIQUE_VIOLATION = "23505";

    private static final ScopedValue<Place> RECALLED = ScopedValue.newInstance();

    private final Database database;
    private final ArchiveContentReader contents;
    private final Semaphore permits = new Semaphore(READS_AT_ONCE, true);

    public ArchivedRuns(Database database, ArchiveContentReader contents) {
        this.database = database;
        this.contents = contents;
    }

    /** The archived run that this thread reads; null for other requests. */
    static @Nullable Place recalled() {
        return RECALLED.isBound() ? RECALLED.get() : null;
    }

    /** The place of an archived run. */
    public Optional<Place> find(UUID workspace, UUID run) {
        return database.withConnection(c -> RunArchive.find(c, workspace, run));
    }

    /** The content of an archived run; 503 if the store does not have it. */
    public byte[] content(Place run) {
        try {
            return contents.read(run);
        } catch (IOException e) {
            throw unreadable(run, e);
        }
    }

    /** The places of a run and of the runs whose outputs it reads, these first. */
    public List<Place> withSources(Place run) {
        return database.withConnection(c -> RunArchive.withSources(c, run));
    }

    /** Reads an archived run; empty if the workspace has no such one. */
    <T> Optional<T> read(UUID workspace, UUID run, ScopedValue.CallableOp<T, RuntimeException> work) {
        return recalled() != null ? Optional.empty() : find(workspace, run).map(place -> within(place, work));
    }

    /** Whether requests of a path may be about an archived run. */
    public static boolean concerns(String path) {
        return ROUTE.matcher(path).matches();
    }

    /** The route, also for archived runs. */
    public Route around(Route route) {
        Matcher named = ROUTE.matcher(route.path());
        if (!named.matches()) {
            return route;
        }
        IdKind kind = KINDS.get(named.group(1));
        return kind == null ? route
                : new Route(route.method(), route.path(), route.open(), route.scope(), route.body(),
                        request -> answer(route, kind, request));
    }

    private ApiResponse answer(Route route, IdKind kind, ApiRequest request) throws IOException, InterruptedException {
        try {
            return route.action().answer(request);
        } catch (ApiProblem problem) {
            Optional<Place> archived = problem.isNotFound() ? archived(kind, request) : Optional.empty();
            if (archived.isEmpty()) {
                throw problem;
            }
            if (!route.reads()) {
                throw archiveFailure(archived.get());
            }
            return recalled(route, request, archived.get());
        }
    }

    private Optional<Place> archived(IdKind kind, ApiRequest request) {
        UUID id = request.id("id", kind);
        return kind == IdKind.RUN ? find(request.workspace(), id)
                : database.withConnection(c -> RunArchive.findPart(c, request.workspace(), id));
    }

    private ApiResponse recalled(Route route, ApiRequest request, Place run) throws IOException, InterruptedException {
        try {
            return this.<ApiResponse, Exception>within(run, () -> whole(run, route.action().answer(request)));
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** A stream of an ended run has an end: it is written before it is sent, while the rows are there. */
    private static ApiResponse whole(Place run, ApiResponse answer) throws IOException, InterruptedException {
        if (!(answer.content() instanceof ApiResponse.Content.Live(String type, ApiResponse.Writer writer))) {
            return answer;
        }
        Whole stream = new Whole(run);
        writer.writeTo(stream);
        byte[] content = stream.bytes.toByteArray();
        ApiResponse whole = ApiResponse.stream(type, content.length, new ByteArrayInputStream(content));
        for (Map.Entry<String, String> header : answer.headers().entrySet()) {
            whole = whole.header(header.getKey(), header.getValue());
        }
        return whole;
    }

    /** The content of a stream, as far as it may be held in memory. */
    private static final class Whole extends OutputStream {
        private final Place run;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        private Whole(Place run) {
            this.run = run;
        }

        @Override
        public void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) {
            if (bytes.size() + length > MAX_STREAM_BYTES) {
                throw archiveFailure(run);
            }
            bytes.write(from, offset, length);
        }
    }

    private static ApiProblem archiveFailure(Place run) {
        return ApiProblem
                .of(ErrorCode.RUN_ARCHIVED,
                        "run " + run.runId()
                                + " is archived: it can be read, not changed, and not streamed above 32 MiB."
                                + " POST /api/v1/runs/" + run.runId() + "/restore brings it back")
                .with("run_id", run.runId().toString());
    }

    private <T, X extends Exception> T within(Place run, ScopedValue.CallableOp<T, X> work) throws X {
        List<Place> chain = withSources(run);
        List<byte[]> contents = new ArrayList<>();
        chain.forEach(each -> contents.add(content(each)));
        take();
        try {
            return database.undone(c -> {
                for (int i = 0; i < chain.size(); i++) {
                    insert(c, chain.get(i), contents.get(i));
                }
            }, () -> ScopedValue.where(RECALLED, run).call(work));
        } catch (SqlFailure e) {
            if (e.sqlState().equals(UNIQUE_VIOLATION)) { // it was restored meanwhile
                return work.call();
            }
            throw e;
        } finally {
            permits.release();
        }
    }

    private static void insert(Connection c, Place run, byte[] content) throws SQLException {
        try {
            RunArchive.recall(c, run, content);
        } catch (IOException e) {
            throw unreadable(run, e);
        }
    }

    private void take() {
        try {
            if (!permits.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw ApiProblem.of(ErrorCode.OVERLOADED, "the server reads other archived runs; nothing was changed")
                        .header("Retry-After", "5");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ApiProblem.of(ErrorCode.NOT_READY, "the server is stopping");
        }
    }

    /** The refusal of a request for a run whose content the store does not return. */
    public static ApiProblem unreadable(Place run, IOException failure) {
        return ApiProblem.of(ErrorCode.ARCHIVE_UNREADABLE,
                "run " + run.runId() + " cannot be read from the archive: " + failure.getMessage());
    }
}
