package io.keelson.server.http;

import io.keelson.core.plan.Problem;
import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.server.auth.Scope;
import io.keelson.server.plan.Documents;
import io.keelson.server.plan.ExternalIdPolicy;
import io.keelson.server.plan.Format;
import io.keelson.server.plan.Mission;
import io.keelson.server.plan.Reading;
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
final class RunCreation {

    private static final String JSON = "application/json";
    private static final String YAML = "application/yaml";
    private static final String UNIQUE_VIOLATION = "23505";

    private final RecipeMissions missions;
    private final Ids ids;
    private final Reads reads;
    private final Admission admission;
    private final CreditDoor credits;
    private final Submission submission;
    private final Turnstile turnstile;

    RunCreation(RecipeMissions missions, Ids ids, Reads reads, Admission admission, CreditDoor credits,
            Submission submission, Turnstile turnstile) {
        this.missions = missions;
        this.ids = ids;
        this.reads = reads;
        this.admission = admission;
        this.credits = credits;
        this.submission = submission;
        this.turnstile = turnstile;
    }

    void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs", this::create);
        table.postAlso(Scope.RUNS_WRITE, "/agents/run", this::runAgent);
        table.post(Scope.RUNS_WRITE, "/missions/validate", this::validate);
    }

    private Answer create(Call call) throws IOException, InterruptedException {
        call.query().done();
        JsonNode document = document(call.body());
        try (Turnstile.Turn _ = turnstile.enter(call.workspace())) {
            return answer(call, make(call, missions.read(call.workspace(), document)));
        }
    }

    /** What {@link #create} would say of the same body; nothing is made or set aside. */
    private Answer validate(Call call) throws IOException, InterruptedException {
        call.query().done();
        JsonNode document = document(call.body());
        try (Turnstile.Turn _ = turnstile.enter(call.workspace())) {
            RecipeMissions.Drawn drawn = missions.read(call.workspace(), document);
            Mission mission = drawn.mission();
            UUID none = ids.next();
            if (existing(call.workspace(), none, mission) == null && mission.startAt() == null) {
                credits.begin(call, none, mission.policy().budget());
            }
            ObjectNode answer = Json.object().put("valid", true).put("name", mission.name())
                    .put("tasks", mission.plan().tasks().size())
                    .put("plan",
                            drawn.origin() != null ? "recipe" : mission.plan().version() == 0 ? "planner" : "given");
            if (drawn.origin() != null) {
                answer.setAll(drawn.origin());
            }
            return Answer.ok(answer);
        }
    }

    private Answer answer(Call call, Made made) {
        ObjectNode run = reads.run(call.workspace(), made.run);
        return made.anew ? Answer.created("/api/v1/runs/" + made.run, run) : Answer.ok(run);
    }

    /** One run of a recipe. */
    Answer run(Call call, RecipeMissions.Drawn drawn) throws InterruptedException {
        try (Turnstile.Turn _ = turnstile.enter(call.workspace())) {
            return answer(call, make(call, drawn));
        }
    }

    /** One task for one agent, begun at once; its life has the states of that contract. */
    private Answer runAgent(Call call) throws IOException, InterruptedException {
        call.query().done();
        JsonNode mission = AgentRun.mission(call.fields());
        try (Turnstile.Turn _ = turnstile.enter(call.workspace())) {
            RecipeMissions.Drawn drawn = missions.read(call.workspace(), mission);
            Made made = make(call, drawn);
            ObjectNode answer = AgentRun.document(made.run, drawn.mission(), reads.run(call.workspace(), made.run));
            return made.anew ? Answer.created("/api/v1/runs/" + made.run, answer) : Answer.ok(answer);
        }
    }

    /** @param anew false for one that bears the external id and was there */
    private record Made(UUID run, boolean anew) {}

    private Made make(Call call, RecipeMissions.Drawn drawn) throws InterruptedException {
        Mission mission = drawn.mission();
        UUID id = call.keyed() == null ? ids.next() : call.keyed().runOr(ids.next());
        UUID existing = existing(call.workspace(), id, mission);
        if (existing == null) {
            if (mission.start() && mission.startAt() == null) {
                credits.begin(call, id, mission.policy().budget());
            }
            try (Admission.Ticket _ = admission.admit(call, id)) {
                existing = submit(call, id, drawn);
            }
        }
        return existing == null ? new Made(id, true) : new Made(existing, false);
    }

    /** A body in JSON or YAML. */
    static JsonNode document(Body body) throws IOException {
        body.requireType(JSON, YAML);
        byte[] bytes = body.bytes();
        return switch (body.type().equals(YAML) ? body.computed(() -> Documents.read(bytes, Format.YAML))
                : Documents.read(bytes, Format.JSON)) {
            case Reading.Done<JsonNode>(JsonNode document) -> document;
            case Reading.Refused<JsonNode>(List<Problem> problems) -> throw Refusal.of(problems);
        };
    }

    /** @return the run that is there in its place; null when it was made */
    private @Nullable UUID submit(Call call, UUID id, RecipeMissions.Drawn drawn) throws InterruptedException {
        Mission mission = drawn.mission();
        NewRun run = mission.newRun(id, call.workspace(), String.valueOf(call.actor().id()), null, drawn.origin(),
                call.traceparent());
        Command.Create create = new Command.Create(run, mission.start(), call.actor());
        try {
            submission.submit(call, create);
            return null;
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof SQLException sql) || !UNIQUE_VIOLATION.equals(sql.getSQLState())) {
                throw e;
            }
            UUID existing = existing(call.workspace(), id, mission);
            if (existing == null) {
                throw e;
            }
            return existing;
        }
    }

    /**
     * The run that bears the mission's external id and is to be the answer; null when the mission may become a run.
     *
     * @throws Refusal when it may not
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
        throw Refusal.of(ErrorCode.EXTERNAL_ID_TAKEN, "the external id belongs to run " + holder.get())
                .with("pointer", "/external_id").with("run_id", holder.get().toString());
    }

    private boolean ended(UUID workspace, UUID run) {
        return reads.run(workspace, run).path("state_type").asString().equals("terminal");
    }
}
