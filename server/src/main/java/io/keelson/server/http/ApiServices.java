package io.keelson.server.http;

import io.keelson.core.run.Ids;
import io.keelson.server.artifact.ArtifactStore;
import io.keelson.server.auth.AuthServices;
import io.keelson.server.bulk.BulkDriver;
import io.keelson.server.bulk.BulkJobs;
import io.keelson.server.compute.Computation;
import io.keelson.server.db.Database;
import io.keelson.server.effect.CommandHandler;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.dispatch.RemoteWork;
import io.keelson.server.live.LiveTexts;
import io.keelson.server.mcp.McpService;
import io.keelson.server.model.call.ProviderCheck;
import io.keelson.server.model.registry.WorkspaceModels;
import io.keelson.server.money.Money;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.purge.WorkspacePurger;
import io.keelson.server.recipe.RecipeStore;
import io.keelson.server.roster.Roster;
import io.keelson.server.run.IdempotencyKeys;
import io.keelson.server.run.read.Explainer;
import io.keelson.server.run.read.InboxReader;
import io.keelson.server.run.read.RunReader;
import io.keelson.server.run.retention.ArtifactRetention;
import io.keelson.server.schedule.ScheduleServices;
import io.keelson.server.secret.SecretStore;
import io.keelson.server.submission.SubmissionServices;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.webhook.Deliveries;
import io.keelson.server.webhook.Endpoints;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The services that the API exposes.
 *
 * @param obstacle why no runs can be taken at the moment; gives null if they can
 */
public record ApiServices(Database database, AuthServices auth, Runs runs, Work work, Stores stores,
        Background background, Supplier<@Nullable String> obstacle) {

    /**
     * Reads and creates runs.
     *
     * @param missions reads what a workspace's clients send: its own workers' tools are known in it
     * @param ids for new runs
     */
    public record Runs(RunReader reader, Explainer explainer, InboxReader inbox,
            Function<UUID, MissionReader> missions, SubmissionServices submissions, Ids ids, IdempotencyKeys keys) {}

    /**
     * Executes.
     *
     * @param external commands to external systems
     * @param computation for what requests have computed
     * @param texts of steps, while they arrive
     */
    public record Work(Commands commands, RemoteWork remote, ToolCatalog tools, CommandHandler external,
            Computation computation, LiveTexts texts) {}

    /** Stored definitions of workspaces. */
    public record Stores(ArtifactStore artifacts, ArtifactRetention artifactRetention, Money money, Roster roster,
            WorkspaceModels models, ProviderCheck.Answers modelAnswers, McpService mcp, SecretStore secrets,
            RecipeStore recipes, Endpoints endpoints,
            Deliveries deliveries) {}

    /** Services that also work without requests. */
    public record Background(ScheduleServices schedules, BulkJobs bulkJobs, BulkDriver bulkDriver,
            WorkspacePurger purger) {}
}
