package io.keelson.server.http.runs;

import io.keelson.core.plan.Problem;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.server.auth.Scope;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.Body;
import io.keelson.server.http.support.ErrorCode;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.Reads;
import io.keelson.server.http.support.Route;
import io.keelson.server.http.support.Submission;
import io.keelson.server.plan.Documents;
import io.keelson.server.plan.ExternalIdPolicy;
import io.keelson.server.plan.Format;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.ReadResult;
import io.keelson.server.submission.AdmissionControl;
import io.keelson.server.submission.CreditPrecheck;
import io.keelson.server.submission.FairSubmissionLimiter;
import io.keelson.server.submission.RecipeMissions;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code POST /runs}: a mission becomes a run. */
public final class RunCreation {

    private static final String JSON = "application/json";
    private static final String YAML = "application/yaml";
    private static final String UNIQUE_VIOLATION = "23505";

    private final RecipeMissions missions;
    private final Ids ids;
    private final Reads reads;
    private final AdmissionControl admission;
    private final CreditPrecheck credits;
    private final Submission submission;
    private final FairSubmissionLimiter limiter;

    public RunCreation(RecipeMissions missions, Ids ids, Reads reads, AdmissionControl admission,
            CreditPrecheck credits,
            Submission submission, FairSubmissionLimiter limiter) {
        this.missions = missions;
        this.ids = ids;
        this.reads = reads;
        this.admission = admission;
        this.credits = credits;
        this.submission = submission;
        this.limiter = limiter;
    }

    public void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs", this::create);
        table.postAlso(Scope.RUNS_WRITE, "/agents/run", this::runAgent);
        table.post(Scope.RUNS_WRITE, "/missions/validate", this::validate);
    }

    private ApiResponse create(ApiRequest request) throws IOException, InterruptedException {
        request.query().done();
        JsonNode document = document(request.body());
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            return answer(request, make(request, missions.read(request.workspace(), document)));
        }
    }

    /** What {@link #create} would say of the same body; nothing is made or set aside. */
    private ApiResponse validate(ApiRequest request) throws IOException, InterruptedException {
        request.query().done();
        JsonNode document = document(request.body());
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            RecipeMissions.PreparedMission prepared = missions.read(request.workspace(), document);
            Mission mission = prepared.mission();
            UUID none = ids.next();
            if (existing(request.workspace(), none, mission) == null && mission.startAt() == null) {
                credits.begin(request, none, mission.policy().budget());
            }
            ObjectNode answer = Json.object().put("valid", true).put("name", mission.name())
                    .put("tasks", mission.plan().tasks().size())
                    .put("plan",
                            prepared.origin() != null ? "recipe" : mission.plan().version() == 0 ? "planner" : "given");
            if (prepared.origin() != null) {
                answer.setAll(prepared.origin());
            }
            return ApiResponse.ok(answer);
        }
    }

    private ApiResponse answer(ApiRequest request, Submitted submitted) {
        ObjectNode run = reads.run(request.workspace(), submitted.run);
        return submitted.anew ? ApiResponse.created("/api/v1/runs/" + submitted.run, run) : ApiResponse.ok(run);
    }

    /** One run of a recipe. */
    public ApiResponse run(ApiRequest request, RecipeMissions.PreparedMission prepared) throws InterruptedException {
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            return answer(request, make(request, prepared));
        }
    }

    /** One task for one agent, begun at once; its life has the states of that contract. */
    private ApiResponse runAgent(ApiRequest request) throws IOException, InterruptedException {
        request.query().done();
        JsonNode mission = AgentRun.mission(request.fields());
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            RecipeMissions.PreparedMission prepared = missions.read(request.workspace(), mission);
            Submitted submitted = make(request, prepared);
            ObjectNode answer =
                    AgentRun.document(submitted.run, prepared.mission(), reads.run(request.workspace(), submitted.run));
            return submitted.anew ? ApiResponse.created("/api/v1/runs/" + submitted.run, answer)
                    : ApiResponse.ok(answer);
        }
    }

    /** @param anew false for one that bears the external id and was there */
    private record Submitted(UUID run, boolean anew) {}

    private Submitted make(ApiRequest request, RecipeMissions.PreparedMission prepared) throws InterruptedException {
        Mission mission = prepared.mission();
        UUID id = request.keyed() == null ? ids.next() : request.keyed().runOr(ids.next());
        UUID existing = existing(request.workspace(), id, mission);
        if (existing == null) {
            if (mission.start() && mission.startAt() == null) {
                credits.begin(request, id, mission.policy().budget());
            }
            try (AdmissionControl.Permit _ = admission.admit(request, id)) {
                existing = submit(request, id, prepared);
            }
        }
        return existing == null ? new Submitted(id, true) : new Submitted(existing, false);
    }

    /** A body in JSON or YAML. */
    public static JsonNode document(Body body) throws IOException {
        body.requireType(JSON, YAML);
        byte[] bytes = body.bytes();
        return switch (body.type().equals(YAML) ? body.computed(() -> Documents.read(bytes, Format.YAML))
                : Documents.read(bytes, Format.JSON)) {
            case ReadResult.Ok<JsonNode>(JsonNode document) -> document;
            case ReadResult.Invalid<JsonNode>(List<Problem> problems) -> throw ApiProblem.of(problems);
        };
    }

    /** @return the run that is there in its place; null when it was made */
    private @Nullable UUID submit(ApiRequest request, UUID id, RecipeMissions.PreparedMission prepared)
            throws InterruptedException {
        Mission mission = prepared.mission();
        NewRun run =
                mission.newRun(id, request.workspace(), String.valueOf(request.actor().id()), null, prepared.origin(),
                        request.traceparent());
        Command.Create create = new Command.Create(run, mission.start(), request.actor());
        try {
            submission.submit(request, create);
            return null;
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof SQLException sql) || !UNIQUE_VIOLATION.equals(sql.getSQLState())) {
                throw e;
            }
            UUID existing = existing(request.workspace(), id, mission);
            if (existing == null) {
                throw e;
            }
            return existing;
        }
    }

    /**
     * The run that bears the mission's external id and is to be the answer; null when the mission may become a run.
     *
     * @throws ApiProblem when it may not
     */
    private @Nullable UUID existing(UUID workspace, UUID id, Mission mission) {
        String externalId = mission.externalId();
        Optional<UUID> holder = externalId == null ? Optional.empty()
                : reads.read((runs, c) -> runs.byExternalId(c, workspace, externalId)).filter(run -> !run.equals(id));
        if (holder.isEmpty()
                || mission.externalIdPolicy() == ExternalIdPolicy.AFTER_END && ended(workspace, holder.get())) {
            return null;
        }
        if (mission.externalIdPolicy() == ExternalIdPolicy.EXISTING) {
            return holder.get();
        }
        throw ApiProblem.of(ErrorCode.EXTERNAL_ID_TAKEN, "the external id belongs to run " + holder.get())
                .with("pointer", "/external_id").with("run_id", holder.get().toString());
    }

    private boolean ended(UUID workspace, UUID run) {
        return reads.run(workspace, run).path("state_type").asString().equals("terminal");
    }
}
