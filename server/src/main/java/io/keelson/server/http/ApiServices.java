package io.keelson.server.http;

import io.keelson.core.run.Ids;
import io.keelson.server.artifact.ArtifactStore;
import io.keelson.server.auth.AuthServices;
import io.keelson.server.bulk.BulkServices;
import io.keelson.server.compute.Computation;
import io.keelson.server.db.Database;
import io.keelson.server.effect.CommandHandler;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.dispatch.RemoteWork;
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
import io.keelson.server.webhook.WebhookServices;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The services that the API exposes.
 *
 * @param missions reads what a workspace's clients send: its own workers' tools are known in it
 * @param ids for new runs
 * @param outside commands to the world outside
 * @param computation for what requests have computed
 * @param ready whether runs can be taken at the moment
 */
public record ApiServices(Database database, AuthServices authServices, Commands commands, RemoteWork remoteWork,
        RunReader runs,
        Explainer explainer, InboxReader inbox, Function<UUID, MissionReader> missions,
        SubmissionServices submissions, ToolCatalog tools,
        ArtifactStore artifacts,
        ArtifactRetention artifactRetention, Money money, Roster roster, Ids ids, SecretStore secrets,
        IdempotencyKeys keys,
        RecipeStore recipes, ScheduleServices schedules, BulkServices bulk, CommandHandler outside,
        WebhookServices webhooks,
        WorkspacePurger purger, Computation computation,
        BooleanSupplier ready) {}
