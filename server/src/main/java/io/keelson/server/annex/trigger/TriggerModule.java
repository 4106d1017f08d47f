package io.keelson.server.annex.trigger;

import io.keelson.core.run.Ids;
import io.keelson.server.api.http.ApiParts;
import io.keelson.server.api.http.ToolModule;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.runs.SignalCommands;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.mission.submission.SubmissionServices;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.secret.SecretStore;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Triggers: their routes, the paths that receive events, and the start of runs. */
public final class TriggerModule implements ToolModule, InboxDecisions.WorkspaceQuestions {

    private final Parts parts;
    private final TriggerStore triggers;
    private final DeliveryStore deliveries;
    private final EventExpressions expressions;
    private final FlowGate gate;
    private final DeliveryProcessor processor;
    private final EventIntake intake;
    private final Hooks hooks;
    private final Replays replays;
    private final DeadLetters deadLetters;

    /**
     * Parts of a server that triggers use.
     *
     * @param ids for triggers, deliveries and runs
     * @param lease time after which another server decides the deliveries of a stopped server
     * @param days for which decided deliveries are kept
     */
    public record Parts(Database database, SecretStore secrets, RunReader runs, IdempotencyKeys keys,
            DatabaseHistory history, SubmissionServices submissions, Expressions expressions,
            Commands commands, Computation computation, TriggerObserver observer, Clock clock, Ids ids, Duration lease,
            int days) {}

    public TriggerModule(Parts parts) {
        this.parts = parts;
        this.triggers = new TriggerStore(parts.database());
        this.deliveries = new DeliveryStore(parts.database());
        this.hooks = new Hooks(triggers, parts.secrets());
        this.expressions = new EventExpressions(parts.expressions());
        FlowStore flow = new FlowStore(parts.database());
        this.gate = new FlowGate(parts.database(), triggers, flow, deliveries, parts.runs(), parts.commands());
        this.replays = new Replays(parts.database());
        DecisionPace pace = new DecisionPace();
        this.processor = new DeliveryProcessor(parts.database(), triggers, deliveries,
                new TriggeredRuns(parts.submissions().runs(), parts.submissions().missions(),
                        new WorkspaceStore(parts.database()), parts.database(), parts.runs(), expressions, flow),
                new TriggeredSignals(parts.database(), parts.runs(),
                        new SignalCommands(parts.database(), parts.runs(), parts.secrets()),
                        parts.commands(), parts.computation()),
                new RunEnds(parts.database(), deliveries, parts.runs(), parts.submissions().missions(), parts.ids()),
                gate, replays, parts.history(), parts.observer(), pace, parts.lease(), parts.days());
        this.deadLetters = new DeadLetters(parts.database(), replays, processor::signal);
        this.intake = new EventIntake(parts.database(), deliveries, parts.ids(), processor::signal, parts.history(),
                parts.observer(), pace, IntakeQueue.Bounds.DEFAULTS);
    }

    @Override
    public void start(Runnable changed) {
        processor.start();
    }

    @Override
    public List<BackgroundTask> tasks() {
        return processor.tasks();
    }

    @Override
    public void addTo(Route.Table table, ApiParts api) {
        new TriggerActions(triggers, deliveries, gate, replays,
                new TriggerCheck(expressions, parts.submissions().missions(), parts.secrets()), parts.database(),
                parts.ids(), new KeyedTransaction(parts.database(), parts.keys()), processor::triggersChanged)
                .addTo(table);
        new EventActions(hooks, expressions, intake).addTo(table);
    }

    @Override
    public List<Mount> mounts(Commands commands) {
        return List.of(new HookMount(hooks, expressions, intake, parts.clock()));
    }

    @Override
    public boolean answer(UUID workspace, UUID subject, boolean accept, @Nullable String reason, AuditOrigin origin) {
        return deadLetters.answer(workspace, subject, accept, reason, origin);
    }

    @Override
    public void close() throws InterruptedException {
        processor.close();
    }
}
