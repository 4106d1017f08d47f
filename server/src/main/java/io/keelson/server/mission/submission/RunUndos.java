package io.keelson.server.mission.submission;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.UndoWork;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.StepError;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.execute.Undos;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.ScopeReader.Starter;
import io.keelson.server.engine.store.read.UndoneRuns;
import io.keelson.server.engine.store.read.UndoneRuns.Source;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.mission.plan.UndoMissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Prepares the runs that undo others. */
public final class RunUndos implements Undos {
    private static final String TOO_LARGE = "UNDO_TOO_LARGE";

    private final Database database;
    private final ScopeReader reader;
    private final ToolCatalog tools;
    private final Function<UUID, Map<String, JsonNode>> announced;
    private final UndoMissions missions;
    private final Tracing tracing;

    /** @param announced the announced tools of a workspace's workers, by name */
    public RunUndos(Database database, ScopeReader reader, ToolCatalog tools,
            Function<UUID, Map<String, JsonNode>> announced, UndoMissions missions, Tracing tracing) {
        this.database = database;
        this.reader = reader;
        this.tools = tools;
        this.announced = announced;
        this.missions = missions;
        this.tracing = tracing;
    }

    @Override
    public Evaluation of(UUID run) {
        Optional<Evaluation.UndoIs> known = database.withConnection(c -> UndoneRuns.state(c, run));
        return known.isPresent() ? known.get() : make(run);
    }

    private Evaluation make(UUID run) {
        Starter starter = database.withConnection(c -> reader.starter(c, run));
        Map<String, JsonNode> ofWorkers = announced.apply(starter.workspaceId());
        List<UndoWork.Row> rows = database.withConnection(
                c -> UndoneRuns.rows(c, run, tool -> hasEffects(starter.workspaceId(), tool, ofWorkers)));
        Plan plan;
        try {
            plan = UndoPlan.of(UndoWork.of(rows));
        } catch (UndoPlan.TooLargeException e) {
            return new Evaluation.Broken(
                    new StepError(TOO_LARGE, ErrorClass.PERMANENT, String.valueOf(e.getMessage())));
        }
        if (plan.tasks().isEmpty()) {
            return new Evaluation.Undoes(null);
        }
        Source source = database.withConnection(c -> UndoneRuns.source(c, run));
        return new Evaluation.Undoes(missions.of(run, starter.name(), starter.priority(), source, plan).newRun(
                UuidCreator.getTimeOrderedEpoch(), starter.workspaceId(), starter.createdBy(), null,
                JsonNodeFactory.instance.objectNode().put("undoes", run.toString()),
                starter.trace().given() == null ? null : tracing.ofRun(starter.trace())));
    }

    /** True for all tools that do not declare to have none. */
    private boolean hasEffects(UUID workspace, String tool, Map<String, JsonNode> ofWorkers) {
        JsonNode worker = ofWorkers.get(tool);
        return tools.find(workspace, tool).map(found -> found.spec().effects() != Effects.READ).orElse(
                worker == null || !worker.path("effects").asString("").equals(Effects.READ.wire()));
    }
}
