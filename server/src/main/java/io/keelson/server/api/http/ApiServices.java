package io.keelson.server.api.http;

import io.keelson.core.run.Ids;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxKind;
import io.keelson.server.api.http.support.Obstacle;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.live.LiveTexts;
import io.keelson.server.engine.purge.WorkspacePurger;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.engine.store.read.Explainer;
import io.keelson.server.engine.store.read.InboxReader;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.mission.bulk.BulkDriver;
import io.keelson.server.mission.bulk.BulkJobs;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.recipe.RecipeStore;
import io.keelson.server.mission.roster.Roster;
import io.keelson.server.mission.schedule.ScheduleServices;
import io.keelson.server.mission.submission.SubmissionServices;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.secret.SecretStore;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The services that the API exposes.
 *
 * @param modules with routes of their own
 * @param history whether the database has all known commits
 * @param obstacle why no runs can be taken at the moment; gives null if they can
 */
public record ApiServices(Database database, AuthServices auth, Runs runs, Work work, Stores stores,
        Background background, List<ToolModule> modules, DatabaseHistory history,
        Supplier<@Nullable Obstacle> obstacle) {

    /**
     * Reads and creates runs.
     *
     * @param missions reads missions with the tools of a workspace's own workers
     * @param models the rules of a workspace about models
     * @param ids for new runs
     */
    public record Runs(RunReader reader, Explainer explainer, InboxReader inbox,
            Function<UUID, MissionReader> missions, Function<UUID, ModelRules> models, SubmissionServices submissions,
            Ids ids, IdempotencyKeys keys) {}

    /**
     * Executes.
     *
     * @param computation for what requests have computed
     * @param texts of steps, while they arrive
     */
    public record Work(Commands commands, RemoteDispatch remote, ToolCatalog tools, Computation computation,
            LiveTexts texts) {}

    /** Stored definitions of workspaces. */
    public record Stores(ArtifactStore artifacts, ArtifactRetention artifactRetention, Money money, Roster roster,
            Map<InboxKind, InboxDecisions.WorkspaceQuestions> questions, SecretStore secrets,
            RecipeStore recipes, Endpoints endpoints,
            Deliveries deliveries) {}

    /** Services that also work without requests. */
    public record Background(ScheduleServices schedules, BulkJobs bulkJobs, BulkDriver bulkDriver,
            WorkspacePurger purger) {}
}
