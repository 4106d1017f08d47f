package io.keelson.server.api.http.runs;

import io.keelson.api.run.RunAction;
import io.keelson.api.run.ValidMission;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.Autonomy;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.Body;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.RunEndPoll;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import io.keelson.server.engine.store.read.EndedRunDocument;
import io.keelson.server.mission.plan.CheckedMission;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.MissionCache;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.submission.FairSubmissionLimiter;
import io.keelson.server.mission.submission.PreparedMission;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.mission.submission.RunSubmission;
import io.keelson.server.mission.submission.SubmissionResult.Submitted;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code POST /runs} and its relatives: creates runs of missions. */
public final class RunCreateActions {

    private static final String JSON = "application/json";
    private static final String YAML = "application/yaml";
    /** Estimated memory of a tree, by the bytes of its YAML. */
    private static final long YAML_TREE = 24;

    /**
     * A submission and its result.
     *
     * @param run the run as submitted
     */
    private record Creation(Submitted submitted, NewRun run) {}

    private final RecipeMissions missions;
    private final Ids ids;
    private final Reads reads;
    private final RunSubmission submission;
    private final FairSubmissionLimiter limiter;
    private final RunEndPoll ends;

    public RunCreateActions(RecipeMissions missions, Ids ids, Reads reads, RunSubmission submission,
            FairSubmissionLimiter limiter, RunEndPoll ends) {
        this.missions = missions;
        this.ids = ids;
        this.reads = reads;
        this.submission = submission;
        this.limiter = limiter;
        this.ends = ends;
    }

    public void addTo(Route.Table table) {
        table.postRawAlso(Scope.RUNS_WRITE, "/runs", this::create);
        table.postAlso(Scope.RUNS_WRITE, "/agents/run", RunAction.OfAgent.class, this::runAgent);
        table.postRaw(Scope.RUNS_WRITE, "/missions/validate", this::validate);
    }

    /** With {@code wait_ms} the answer is held back while the run has not ended. */
    private ApiResponse create(ApiRequest request) throws IOException, InterruptedException {
        Supplier<ReadResult<PreparedMission>> mission = mission(request);
        Duration wait = Duration.ofMillis(request.query().integer("wait_ms", 0));
        UUID id = request.runId(ids);
        Creation creation;
        try (RunEndPoll.Awaited end = ends.of(id)) {
            creation = submit(request, id, mission);
            request.body().release();
            if (creation.submitted.created() && !request.repeats()) {
                if (!wait.isZero()) {
                    end.next(request, wait);
                }
                NewRun run = creation.run;
                Optional<ObjectNode> ended = end.storedRun().flatMap(stored -> EndedRunDocument.of(run, stored));
                return ended.isPresent() ? answer(creation.submitted, ended.get())
                        : answer(request, creation.submitted);
            }
        }
        if (!wait.isZero()) {
            try (RunEndPoll.Awaited end = ends.of(creation.submitted.run())) {
                end.reached(request, wait);
            }
        }
        return answer(request, creation.submitted);
    }

    /** Parses the body, unless its mission is known. The mission is checked when it is asked for. */
    private Supplier<ReadResult<PreparedMission>> mission(ApiRequest request) throws IOException {
        Body body = request.body();
        MissionCache.Key key = MissionCache.Key.of(request.workspace(), format(body), body.bytes());
        Optional<PreparedMission> known = missions.known(key);
        if (known.isPresent()) {
            return () -> new ReadResult.Ok<>(known.get());
        }
        JsonNode document = document(body);
        return () -> missions.read(key, document);
    }

    /** Answers as {@link #create} would for the same body, and creates and reserves nothing. */
    private ApiResponse validate(ApiRequest request) throws IOException, InterruptedException {
        JsonNode document = document(request.body());
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            PreparedMission prepared = read(request, document);
            submission.check(submission(request, ids.next(), prepared)).ifPresent(SubmissionMapping::submitted);
            CheckedMission mission = prepared.mission();
            ObjectNode origin = prepared.origin();
            Budget budget = mission.policy().budget();
            return ApiResponse.ok(Json.document(new ValidMission(true, mission.name(), mission.plan().tasks().size(),
                    origin != null ? "recipe" : mission.plan().version() == 0 ? "planner" : "given",
                    Json.plain(budget.estimate()),
                    budget.hardLimit() == null ? null : Json.plain(budget.hardLimit()), autonomy(mission),
                    mission.planJson(), origin == null ? null : origin.path("recipe_id").stringValue(null),
                    origin == null ? null : origin.path("recipe_version").intValue())));
        }
    }

    /** The autonomy level of the mission's run, and the approval that its plan needs. */
    private static ValidMission.Approval autonomy(CheckedMission mission) {
        RunPolicy policy = mission.policy();
        Autonomy level = policy.humans().autonomy();
        boolean later = mission.plan().version() == 0 && level == Autonomy.AUTONOMOUS;
        return new ValidMission.Approval(level.wire(), mission.autonomySource().wire(),
                later ? "above_threshold" : policy.approvePlan() ? "person" : "none");
    }

    /** Creates a run and answers with it. As {@link #submit(ApiRequest, Supplier)} otherwise. */
    public ApiResponse run(ApiRequest request, Supplier<ReadResult<PreparedMission>> mission)
            throws InterruptedException {
        return answer(request, submit(request, mission));
    }

    /**
     * Creates a run. A mission that is not valid and a limit that forbids the run are refused with a problem.
     *
     * @param mission read when it is this request's turn
     * @return under a key that was used before, the run created then
     */
    public Submitted submit(ApiRequest request, Supplier<ReadResult<PreparedMission>> mission)
            throws InterruptedException {
        return submit(request, request.runId(ids), mission).submitted;
    }

    private Creation submit(ApiRequest request, UUID id, Supplier<ReadResult<PreparedMission>> mission)
            throws InterruptedException {
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            return submitted(request, id, SubmissionMapping.value(mission.get()));
        }
    }

    /** Creates a run of one task for one agent and starts it. The answer has the states of the agent contract. */
    private ApiResponse runAgent(ApiRequest request, RunAction.OfAgent body) throws InterruptedException {
        JsonNode document = AgentRun.mission(body);
        try (FairSubmissionLimiter.Permit _ = limiter.enter(request.workspace())) {
            PreparedMission prepared = read(request, document);
            Submitted submitted = submitted(request, request.runId(ids), prepared).submitted;
            ObjectNode answer = AgentRun.document(submitted.run(), prepared.mission(),
                    reads.run(request.workspace(), submitted.run()));
            return submitted.created() ? ApiResponse.created("/api/v1/runs/" + submitted.run(), answer)
                    : ApiResponse.ok(answer);
        }
    }

    private PreparedMission read(ApiRequest request, JsonNode document) {
        return SubmissionMapping.value(missions.read(request.workspace(), document));
    }

    private Creation submitted(ApiRequest request, UUID id, PreparedMission prepared) throws InterruptedException {
        RunSubmission.Request creation = submission(request, id, prepared);
        return new Creation(SubmissionMapping.submitted(submission.submit(creation)), creation.create().run());
    }

    private static RunSubmission.Request submission(ApiRequest request, UUID id, PreparedMission prepared) {
        CheckedMission mission = prepared.mission();
        return SubmissionMapping.of(request, new Command.Create(
                mission.newRun(id, request.workspace(), String.valueOf(request.actor().id()), null, prepared.origin(),
                        request.traceparent()),
                mission.start(), request.actor()), mission.externalIdPolicy());
    }

    private ApiResponse answer(ApiRequest request, Submitted submitted) {
        return answer(submitted, reads.sharedRun(request.workspace(), submitted.run()));
    }

    private static ApiResponse answer(Submitted submitted, ObjectNode run) {
        return submitted.created() ? ApiResponse.created("/api/v1/runs/" + submitted.run(), run)
                : ApiResponse.ok(run);
    }

    /** A body in JSON or YAML. */
    public static JsonNode document(Body body) throws IOException {
        Format format = format(body);
        byte[] bytes = body.bytes();
        return switch (format) {
            case YAML -> {
                DocumentMemory.take(YAML_TREE * bytes.length);
                yield SubmissionMapping.value(body.computed(() -> Documents.read(bytes, format)));
            }
            case JSON -> {
                OutsideJson.reserve(bytes);
                yield SubmissionMapping.value(Documents.read(bytes, format));
            }
        };
    }

    private static Format format(Body body) {
        body.requireType(JSON, YAML);
        return body.type().equals(YAML) ? Format.YAML : Format.JSON;
    }
}
