package io.keelson.server.api.http;

import io.keelson.server.api.http.admin.ApprovalRuleActions;
import io.keelson.server.api.http.admin.AuditActions;
import io.keelson.server.api.http.admin.CallerActions;
import io.keelson.server.api.http.admin.DatabaseActions;
import io.keelson.server.api.http.admin.EngineActions;
import io.keelson.server.api.http.admin.KeyActions;
import io.keelson.server.api.http.admin.MetricsActions;
import io.keelson.server.api.http.admin.NodeActions;
import io.keelson.server.api.http.admin.SessionActions;
import io.keelson.server.api.http.admin.WorkspaceActions;
import io.keelson.server.api.http.billing.CreditActions;
import io.keelson.server.api.http.billing.LedgerActions;
import io.keelson.server.api.http.billing.PriceActions;
import io.keelson.server.api.http.definitions.ReceiverCheck;
import io.keelson.server.api.http.definitions.RecipeActions;
import io.keelson.server.api.http.definitions.RosterActions;
import io.keelson.server.api.http.definitions.ScheduleActions;
import io.keelson.server.api.http.definitions.ScheduleTimes;
import io.keelson.server.api.http.definitions.SecretActions;
import io.keelson.server.api.http.definitions.ViewActions;
import io.keelson.server.api.http.definitions.WebhookActions;
import io.keelson.server.api.http.inbox.BoardActions;
import io.keelson.server.api.http.inbox.InboxActions;
import io.keelson.server.api.http.inbox.InboxDecisions;
import io.keelson.server.api.http.inbox.InboxItems;
import io.keelson.server.api.http.inbox.ReportActions;
import io.keelson.server.api.http.inbox.UsableModels;
import io.keelson.server.api.http.runs.AgentActions;
import io.keelson.server.api.http.runs.ArchiveActions;
import io.keelson.server.api.http.runs.ArtifactActions;
import io.keelson.server.api.http.runs.BulkActions;
import io.keelson.server.api.http.runs.EscalationActions;
import io.keelson.server.api.http.runs.ExplainActions;
import io.keelson.server.api.http.runs.ExportedEvents;
import io.keelson.server.api.http.runs.ProposalActions;
import io.keelson.server.api.http.runs.RunActions;
import io.keelson.server.api.http.runs.RunCreateActions;
import io.keelson.server.api.http.runs.RunFork;
import io.keelson.server.api.http.runs.RunViews;
import io.keelson.server.api.http.runs.SignalActions;
import io.keelson.server.api.http.runs.SignalCommands;
import io.keelson.server.api.http.runs.StepActions;
import io.keelson.server.api.http.runs.TaskActions;
import io.keelson.server.api.http.streams.AnswerStreams;
import io.keelson.server.api.http.streams.EventStreams;
import io.keelson.server.api.http.streams.FeedStreams;
import io.keelson.server.api.http.streams.LogStreams;
import io.keelson.server.api.http.streams.RunProgressPoller;
import io.keelson.server.api.http.streams.Streams;
import io.keelson.server.api.http.support.ApproverRule;
import io.keelson.server.api.http.support.ArchivedRuns;
import io.keelson.server.api.http.support.Authenticator;
import io.keelson.server.api.http.support.Idempotency;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.KnownHosts;
import io.keelson.server.api.http.support.LongPoll;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.RunEndPoll;
import io.keelson.server.api.http.support.SessionCookie;
import io.keelson.server.api.http.support.ShutdownSignal;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.api.http.workers.CacheActions;
import io.keelson.server.api.http.workers.DispatchActions;
import io.keelson.server.api.http.workers.UploadActions;
import io.keelson.server.api.http.workers.VersionActions;
import io.keelson.server.api.http.workers.WorkerActions;
import io.keelson.server.api.view.SavedViews;
import io.keelson.server.engine.store.ReportTexts;
import io.keelson.server.engine.store.archive.ArchiveContentReader;
import io.keelson.server.mission.submission.FairSubmissionLimiter;
import io.keelson.server.mission.submission.SubmissionServices;
import io.keelson.server.outlet.board.AgentReports;
import io.keelson.server.outlet.board.BoardTasks;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** All that is served. */
final class Routes {

    /** Few enough that another's work gets a processor soon, enough to keep them busy. */
    private static final int AT_ONCE_OF_ONE_WORKSPACE = 2 * Runtime.getRuntime().availableProcessors();

    private Routes() {}

    /** @param openApi the OpenAPI document as it is served */
    static List<Route> of(ApiServices services, LongPoll poll, Authenticator authenticator, ShutdownSignal shutdown,
            Observed observed, Supplier<ObjectNode> openApi, SessionCookie cookie, KnownHosts hosts,
            Idempotency idempotency, HttpOptions options) {
        ArchiveContentReader contents = new ArchiveContentReader(services.stores().artifacts());
        ArchivedRuns archived = new ArchivedRuns(services.database(), contents);
        Reads reads = new Reads(services.database(), services.runs().reader(), archived);
        KeyedTransaction keyed = new KeyedTransaction(services.database(), services.runs().keys());
        ApproverRule approvers = new ApproverRule(reads, services.runs().submissions().approvals());
        Submission submission = new Submission(services.work().commands(), approvers);
        Route.Table table = new Route.Table();
        SubmissionServices submissions = services.runs().submissions();
        FairSubmissionLimiter limiter = new FairSubmissionLimiter(AT_ONCE_OF_ONE_WORKSPACE, System::nanoTime);
        RunEndPoll ends = new RunEndPoll(services.work().commands(), reads, poll);
        RunCreateActions creation = new RunCreateActions(submissions.missions(), services.runs().ids(), reads,
                submissions.runs(), limiter, ends);
        creation.addTo(table);
        new RecipeActions(services.stores().recipes(), services.database(), services.runs().missions(),
                submissions.missions(), creation, reads, services.runs().ids(), keyed).addTo(table);
        new ScheduleTimes(services.background().schedules().schedules(), services.database()).addTo(table);
        new ScheduleActions(services.background().schedules(), services.database(), submissions.missions(),
                services.runs().ids(), keyed).addTo(table);
        new ArchiveActions(reads, services.database(), archived, contents).addTo(table);
        new RunViews(reads, poll, ends, services.database(), services.runs().explainer()).addTo(table);
        Streams streams = new Streams(reads, authenticator, shutdown, services.history());
        RunProgressPoller progress =
                new RunProgressPoller(watched -> reads.read((reader, c) -> reader.progress(c, watched)), shutdown);
        observed.background().accept(progress.task());
        new EventStreams(streams, progress).addTo(table);
        new AnswerStreams(streams, progress, services.work().texts()).addTo(table);
        new LogStreams(streams, progress).addTo(table);
        FeedStreams feed = new FeedStreams(streams, shutdown);
        feed.addTo(table);
        observed.background().accept(feed.task());
        RunActions runs = new RunActions(reads, submissions.admission(), submissions.credits(), submission,
                submissions.edits(), services.database());
        runs.addTo(table);
        new BulkActions(services.background().bulkJobs(), services.background().bulkDriver(), services.database(),
                services.runs().ids(), keyed).addTo(table);
        new ExportedEvents(reads, services.stores().artifacts()).addTo(table);
        new SignalActions(reads, services.runs().ids(), new SignalCommands(services.database(),
                services.runs().reader(), services.stores().secrets()), submission).addTo(table);
        ArtifactActions artifacts = new ArtifactActions(reads, services.stores().artifacts(), services.database(),
                services.stores().artifactRetention());
        artifacts.addTo(table);
        ExplainActions explain = new ExplainActions(reads, services.database(), services.runs().explainer(),
                approvers);
        explain.addTo(table);
        new RunFork(services.runs().missions(), services.runs().ids(), reads, submissions.runs()).addTo(table);
        new TaskActions(reads, submission).addTo(table);
        new AgentActions(reads, submission).addTo(table);
        new ViewActions(new SavedViews(services.database())).addTo(table);
        new RosterActions(services.stores().roster(), services.auth().workspaces(),
                services.work().tools().ofWorkspaces(), keyed)
                .addTo(table);
        EscalationActions escalations = new EscalationActions(reads, submission);
        escalations.addTo(table);
        InboxItems items = new InboxItems(reads, services.database(), services.runs().inbox());
        new InboxActions(items, services.auth().keys(), keyed).addTo(table);
        ProposalActions proposals = new ProposalActions(reads, submission);
        proposals.addTo(table);
        InboxDecisions decisions = new InboxDecisions(reads, submission, escalations, proposals, items,
                new UsableModels(services.runs().models()), services.stores().questions());
        decisions.addTo(table);
        new StepActions(reads, submission).addTo(table);
        new DispatchActions(services.work().remote(), poll).addTo(table);
        new UploadActions(services.work().remote(), services.stores().artifacts()).addTo(table);
        new WorkerActions(reads, services.work().remote(), services.work().tools()).addTo(table);
        new VersionActions(services.database(), services.work().tools(), keyed,
                services.work().commands()::settingsChanged).addTo(table);
        new CacheActions(services.database()).addTo(table);
        new CreditActions(reads, services.stores().money(), services.auth().workspaces()).addTo(table);
        new LedgerActions(reads, services.stores().money()).addTo(table);
        new PriceActions(services.stores().money().prices(), services.work().commands()::settingsChanged).addTo(table);
        new SecretActions(services.stores().secrets()).addTo(table);
        new BoardActions(new BoardTasks(services.database()), keyed).addTo(table);
        ReportActions reports =
                new ReportActions(new AgentReports(services.database()), new ReportTexts(services.database()));
        reports.addTo(table);
        new KeyActions(services.auth().keys()).addTo(table);
        new CallerActions(services.auth(), services.database(), features(services.modules(), options),
                options.version())
                .addTo(table);
        new SessionActions(services.auth().sessions(), authenticator, cookie).addTo(table);
        new WebhookActions(services.stores().endpoints(), services.stores().deliveries(),
                new ReceiverCheck(services.stores().endpoints(), services.auth().keys(), services.database()),
                services.runs().ids()).addTo(table);
        new WorkspaceActions(services.auth().workspaces(), reads, services.background().purger(), services.runs().ids(),
                keyed, services.work().commands()::settingsChanged).addTo(table);
        new ApprovalRuleActions(submissions.approvals()).addTo(table);
        new AuditActions(services.auth().auditLog()).addTo(table);
        new NodeActions(services.database()).addTo(table);
        new MetricsActions(observed, authenticator).addTo(table);
        new DatabaseActions(services.database()).addTo(table);
        new EngineActions(services.obstacle(), services.history(), reads, openApi).addTo(table);
        ApiParts parts = new ApiParts(reads,
                new ApiParts.Runs(submissions.missions(), creation, runs, ends, explain, artifacts, reports),
                new ApiParts.Inbox(items, decisions), idempotency, hosts, cookie, options);
        services.modules().forEach(module -> module.addTo(table, parts));
        return table.routes().stream().map(archived::around).toList();
    }

    private static List<String> features(List<ToolModule> modules, HttpOptions options) {
        return Stream.concat(options.dashboard() == null ? Stream.of() : Stream.of("dashboard"),
                modules.stream().flatMap(module -> module.features().stream())).toList();
    }
}
