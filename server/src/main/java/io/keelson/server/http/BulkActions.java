package io.keelson.server.http;

import io.keelson.core.run.Ids;
import io.keelson.server.auth.Scope;
import io.keelson.server.bulk.BulkDriver;
import io.keelson.server.bulk.BulkJob;
import io.keelson.server.bulk.BulkJobs;
import io.keelson.server.bulk.BulkRoom;
import io.keelson.server.db.Database;
import io.keelson.server.run.RunFilter;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Commands to all runs that a filter finds: asked for at once, carried out little by little. */
final class BulkActions {

    private static final int MAX_REASON = 2_000;
    private static final int MOST_PER_SECOND = 1_000;
    /** Beside what the workspace does anyway. */
    private static final int CANCELLED_PER_SECOND = 100;
    /** What has failed in great numbers had a cause, which a rush would bring back. */
    private static final int RETRIED_PER_SECOND = 10;

    private final BulkJobs jobs;
    private final BulkDriver driver;
    private final Database database;
    private final Ids ids;
    private final KeyedTransaction keyed;

    BulkActions(BulkRoom room, Database database, Ids ids, KeyedTransaction keyed) {
        this.jobs = room.jobs();
        this.driver = room.driver();
        this.database = database;
        this.ids = ids;
        this.keyed = keyed;
    }

    void addTo(Route.Table table) {
        table.post(Scope.RUNS_WRITE, "/runs:cancel", call -> {
            Fields fields = call.fields();
            String reason = fields.optionalText("reason", MAX_REASON);
            return begin(call, fields, BulkJob.Action.CANCEL, reason, false, CANCELLED_PER_SECOND);
        });
        table.post(Scope.RUNS_WRITE, "/runs:retry", call -> {
            Fields fields = call.fields();
            boolean fromStart = fields.word("from", List.of("failed", "start"), "failed").equals("start");
            return begin(call, fields, BulkJob.Action.RETRY, null, fromStart, RETRIED_PER_SECOND);
        });
        table.get(Scope.RUNS_READ, "/bulk", this::list);
        table.get(Scope.RUNS_READ, "/bulk/{id}", this::show);
        table.post(Scope.RUNS_WRITE, "/bulk/{id}/stop", this::stop);
    }

    private Answer begin(Call call, Fields fields, BulkJob.Action action, @Nullable String reason, boolean fromStart,
            int usualPace) {
        call.query().done();
        RunFilter filter = RunFilters.of(fields);
        boolean dry = fields.flag("dry_run", false);
        int perSecond = (int) fields.integer("per_second", 1, MOST_PER_SECOND, usualPace);
        fields.done();
        if (dry) {
            long matches = database.withConnection(c -> jobs.matches(c, call.workspace(), action, filter));
            return Answer.ok(matches(Json.object().put("dry_run", true).put("action", action.wire()), matches));
        }
        BulkJob.Order order = new BulkJob.Order(action, filter, reason, fromStart, perSecond, call.actor());
        UUID id = ids.next();
        Answer answer = keyed.answer(call, c -> {
            BulkJob job = jobs.insert(c, id, call.workspace(), order);
            return Answer.created("/api/v1/bulk/" + id, document(job)).as(202);
        });
        driver.nudge();
        return answer;
    }

    private Answer list(Call call) {
        Query query = call.query();
        Cursor cursor = new Cursor("bulk");
        UUID after = cursor.read(query, UUID::fromString);
        int limit = query.limit();
        query.done();
        List<BulkJob> found = database.withConnection(c -> jobs.list(c, call.workspace(), after, limit + 1));
        return Answer.ok(Lists.page(found.stream().limit(limit).map(BulkActions::document).toList(),
                found.size() <= limit ? null : cursor.write(found.get(limit - 1).id().toString())));
    }

    private Answer show(Call call) {
        call.query().done();
        return Answer.resource(document(job(call)));
    }

    private Answer stop(Call call) throws IOException {
        call.query().done();
        call.fields().done();
        BulkJob job = job(call);
        database.runInTransaction(c -> jobs.stop(c, call.workspace(), job.id()));
        return Answer.ok(document(job(call)));
    }

    private BulkJob job(Call call) {
        UUID id = call.id("id", IdKind.BULK);
        return Reads.found(database.withConnection(c -> jobs.find(c, call.workspace(), id)), IdKind.BULK, id);
    }

    private static ObjectNode matches(ObjectNode document, long matches) {
        return document.put("matches", matches).put("matches_at_least", matches >= BulkJobs.MOST_COUNTED);
    }

    private static ObjectNode document(BulkJob job) {
        BulkJob.Order order = job.order();
        ObjectNode document = Json.object().put("id", job.id().toString())
                .put("workspace_id", job.workspaceId().toString()).put("action", order.action().wire())
                .put("state", job.state().wire());
        document.set("filter", order.filterDocument());
        matches(document, job.matches());
        document.put("changed", job.changed()).put("unchanged", job.unchanged()).set("refused", job.refused());
        return document.put("reason", order.reason())
                .put("from", order.action() == BulkJob.Action.RETRY ? order.fromStart() ? "start" : "failed" : null)
                .put("per_second", order.perSecond()).put("waits_for", job.waitsFor())
                .put("actor_type", order.actor().type().wire()).put("actor_id", order.actor().id())
                .put("created_at", Json.time(job.createdAt())).put("ended_at", Json.time(job.endedAt()));
    }
}
