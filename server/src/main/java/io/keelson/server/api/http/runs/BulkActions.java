package io.keelson.server.api.http.runs;

import io.keelson.api.run.BulkJob;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.bulk.BulkDriver;
import io.keelson.server.mission.bulk.BulkJobRow;
import io.keelson.server.mission.bulk.BulkJobs;
import io.keelson.server.tenant.auth.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Bulk jobs: commands to all runs that match a filter, executed in the background. */
public final class BulkActions {

    private final BulkJobs jobs;
    private final BulkDriver driver;
    private final Database database;
    private final Ids ids;
    private final KeyedTransaction keyed;

    public BulkActions(BulkJobs jobs, BulkDriver driver, Database database, Ids ids, KeyedTransaction keyed) {
        this.jobs = jobs;
        this.driver = driver;
        this.database = database;
        this.ids = ids;
        this.keyed = keyed;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.RUNS_WRITE, "/runs:cancel", BulkJob.Change.class,
                (request, body) -> begin(request, body.dryRun(),
                        new BulkJobRow.Order(BulkJobRow.Action.CANCEL, RunFilters.of(body.filter()), body.reason(),
                                false, body.perSecond(),
                                request.actor())));
        table.post(Scope.RUNS_WRITE, "/runs:retry", BulkJob.Retry.class,
                (request, body) -> begin(request, body.dryRun(),
                        new BulkJobRow.Order(BulkJobRow.Action.RETRY, RunFilters.of(body.filter()), null,
                                body.from().equals("start"),
                                body.perSecond(), request.actor())));
        for (BulkJobRow.Action action : List.of(BulkJobRow.Action.PAUSE, BulkJobRow.Action.RESUME,
                BulkJobRow.Action.DELETE)) {
            table.post(Scope.RUNS_WRITE, "/runs:" + action.wire(), BulkJob.Change.class,
                    (request, body) -> begin(request, body.dryRun(),
                            new BulkJobRow.Order(action, RunFilters.of(body.filter()),
                                    body.reason(), false, body.perSecond(), request.actor())));
        }
        table.get(Scope.RUNS_READ, "/bulk", this::list);
        table.get(Scope.RUNS_READ, "/bulk/{id}", this::show);
        table.post(Scope.RUNS_WRITE, "/bulk/{id}/stop", this::stop);
    }

    private ApiResponse begin(ApiRequest request, boolean dryRun, BulkJobRow.Order order) {
        if (dryRun) {
            long matches = database
                    .withConnection(c -> jobs.matches(c, request.workspace(), order.action(), order.filter()));
            return ApiResponse.ok(Json.document(
                    new BulkJob.Matches(true, order.action().wire(), matches, matches >= BulkJobs.MAX_COUNTED)));
        }
        UUID id = ids.next();
        ApiResponse response = keyed.answer(request, c -> {
            BulkJobRow job = jobs.insert(c, id, request.workspace(), order);
            return ApiResponse.created("/api/v1/bulk/" + id, document(job)).as(202);
        });
        driver.signal();
        return response;
    }

    private ApiResponse list(ApiRequest request) {
        Query query = request.query();
        ListCursor cursor = new ListCursor("bulk");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        Page<BulkJobRow> found = database.withConnection(c -> jobs.list(c, request.workspace(), after, limit));
        return ApiResponse.ok(Lists.page(found, cursor, job -> job.id().toString(), BulkActions::document));
    }

    private ApiResponse show(ApiRequest request) {
        return ApiResponse.resource(document(job(request)));
    }

    private ApiResponse stop(ApiRequest request) {
        BulkJobRow job = job(request);
        database.runInTransaction(c -> jobs.stop(c, request.workspace(), job.id()));
        return ApiResponse.ok(document(job(request)));
    }

    private BulkJobRow job(ApiRequest request) {
        UUID id = request.id("id", IdKind.BULK);
        return Reads.found(database.withConnection(c -> jobs.find(c, request.workspace(), id)), IdKind.BULK, id);
    }

    private static ObjectNode document(BulkJobRow job) {
        BulkJobRow.Order order = job.order();
        boolean retries = order.action() == BulkJobRow.Action.RETRY;
        return Json.document(new BulkJob(job.id().toString(), job.workspaceId().toString(), order.action().wire(),
                job.state().wire(), order.filterDocument(), job.matches(), job.matches() >= BulkJobs.MAX_COUNTED,
                job.changed(), job.unchanged(), refused(job), order.reason(),
                retries ? order.fromStart() ? "start" : "failed" : null, order.perSecond(), job.waitsFor(),
                order.actor().type().wire(), order.actor().id(), job.createdAt(), job.endedAt()));
    }

    private static Map<String, Integer> refused(BulkJobRow job) {
        Map<String, Integer> numbers = new LinkedHashMap<>();
        job.refused().properties().forEach(each -> numbers.put(each.getKey(), each.getValue().intValue()));
        return numbers;
    }
}
