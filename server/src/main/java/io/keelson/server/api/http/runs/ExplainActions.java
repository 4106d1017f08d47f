package io.keelson.server.api.http.runs;

import io.keelson.core.run.Explanation;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ApproverRule;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.Explainer;
import io.keelson.server.engine.store.read.Explainer.Explained;
import io.keelson.server.tenant.auth.Scope;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Why something waits. */
public final class ExplainActions {

    private final Reads reads;
    private final Database database;
    /** Reasons that end with an approval. */
    private static final Set<String> APPROVALS =
            Set.of("PLAN_APPROVAL", "RESULT_ACCEPTANCE", "TASK_REVIEW", "APPROVAL");

    private final Explainer explainer;
    private final ApproverRule approvers;

    public ExplainActions(Reads reads, Database database, Explainer explainer, ApproverRule approvers) {
        this.approvers = approvers;
        this.reads = reads;
        this.database = database;
        this.explainer = explainer;
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/explain", this::run);
        table.get(Scope.RUNS_READ, "/tasks/{id}/explain", this::task);
        table.get(Scope.RUNS_READ, "/steps/{id}/explain", this::step);
    }

    private ApiResponse run(ApiRequest request) {
        UUID id = request.id("id", IdKind.RUN);
        return answer(request, reads.status(request.workspace(), id), id, null, null);
    }

    private ApiResponse task(ApiRequest request) {
        UUID id = request.id("id", IdKind.TASK);
        ObjectNode task = reads.task(request.workspace(), id);
        return answer(request, task, UUID.fromString(task.get("run_id").stringValue()), id, null);
    }

    private ApiResponse step(ApiRequest request) {
        UUID id = request.id("id", IdKind.STEP);
        ObjectNode step = reads.step(request.workspace(), id);
        return answer(request, step, UUID.fromString(step.get("run_id").stringValue()),
                UUID.fromString(step.get("task_id").stringValue()), id);
    }

    /** Why a run waits: its state, the reasons, and for how many tasks they are left out. */
    public ObjectNode explained(UUID workspace, UUID run) {
        return explained(workspace, reads.status(workspace, run), run, null, null);
    }

    private ApiResponse answer(ApiRequest request, ObjectNode subject, UUID run, @Nullable UUID task,
            @Nullable UUID step) {
        return ApiResponse.ok(explained(request.workspace(), subject, run, task, step));
    }

    private ObjectNode explained(UUID workspace, ObjectNode subject, UUID run, @Nullable UUID task,
            @Nullable UUID step) {
        TxFunction<Explained> work = c -> explainer.explain(c, workspace, run, task, step);
        Explained explained = database.inTransaction(work);
        ObjectNode document = Json.object().put("run_id", run.toString());
        if (task != null) {
            document.put("task_id", task.toString());
        }
        if (step != null) {
            document.put("step_id", step.toString());
        }
        document.set("state", subject.get("state"));
        ArrayNode list = document.putArray("reasons");
        String approvers = explained.reasons().stream().anyMatch(reason -> APPROVALS.contains(reason.code()))
                ? this.approvers.inWords(workspace, run)
                : "";
        explained.reasons()
                .forEach(reason -> list.add(document(reason, asksApprover(workspace, reason) ? approvers : "")));
        return document.put("tasks_left_out", explained.tasksLeftOut());
    }

    /** Whether the rules on approvers are about the reason's question. */
    private boolean asksApprover(UUID workspace, Explanation reason) {
        UUID step = reason.stepId();
        return APPROVALS.contains(reason.code()) && (step == null || !approvers.isQuestion(workspace, step));
    }

    private static ObjectNode document(Explanation reason, String approver) {
        ObjectNode document = Json.object().put("code", reason.code()).put("text", reason.text() + approver)
                .put("task_id", text(reason.taskId())).put("step_id", text(reason.stepId()))
                .put("until", Json.time(reason.until())).put("needed_usd", reason.needed());
        ArrayNode on = document.putArray("on");
        reason.on().forEach(on::add);
        return document;
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }
}
