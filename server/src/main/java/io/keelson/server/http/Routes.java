package io.keelson.server.http;

import io.keelson.server.board.Board;
import io.keelson.server.board.Reports;
import io.keelson.server.run.ReportTexts;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** All that is served. */
final class Routes {

    /** Few enough that another's work gets a processor soon, enough to keep them busy. */
    private static final int AT_ONCE_OF_ONE_WORKSPACE = 2 * Runtime.getRuntime().availableProcessors();

    private Routes() {}

    /** @param openApi the document about them, which is served as it is when it is asked for */
    static List<Route> of(Rooms rooms, LongPoll poll, Door door, Stopping stopping, Observed observed,
            ObjectNode openApi) {
        Reads reads = new Reads(rooms.database(), rooms.runs());
        KeyedTransaction keyed = new KeyedTransaction(rooms.database(), rooms.keys());
        Submission submission = new Submission(rooms.commands());
        Route.Table table = new Route.Table();
        Admission admission = new Admission(reads);
        CreditDoor credits = new CreditDoor(rooms.money(), reads);
        RecipeMissions missions = new RecipeMissions(rooms.database(), rooms.recipes(), rooms.missions());
        Turnstile turnstile = new Turnstile(AT_ONCE_OF_ONE_WORKSPACE, System::nanoTime);
        RunCreation creation = new RunCreation(missions, rooms.ids(), reads, admission, credits, submission, turnstile);
        creation.addTo(table);
        new RecipeActions(rooms.recipes(), rooms.database(), rooms.missions(), missions, creation, reads, rooms.ids(),
                new KeyedTransaction(rooms.database(), rooms.keys())).addTo(table);
        new ScheduleActions(rooms.schedules(), rooms.database(), missions, rooms.ids(),
                new KeyedTransaction(rooms.database(), rooms.keys())).addTo(table);
        CommandAnswers commands = new CommandAnswers(rooms.outside());
        new DeploymentOrderActions(rooms.outside(), commands).addTo(table);
        new CommandActions(rooms.outside(), commands).addTo(table);
        new RunViews(reads, poll, rooms.commands()).addTo(table);
        StreamPlaces places = new StreamPlaces();
        StreamReads patient = new StreamReads(stopping);
        new EventStreams(reads, door, stopping, places, patient).addTo(table);
        new FeedStreams(reads, door, stopping, places, patient).addTo(table);
        new RunActions(reads, admission, credits, submission, rooms.database()).addTo(table);
        new BulkActions(rooms.bulk(), rooms.database(), rooms.ids(), keyed).addTo(table);
        new ExportedEvents(reads, rooms.artifacts()).addTo(table);
        new SignalActions(reads, rooms.ids(), rooms.secrets(), submission).addTo(table);
        new ArtifactActions(reads, rooms.artifacts(), rooms.database(), rooms.artifactLife()).addTo(table);
        new ExplainActions(reads, rooms.database(), rooms.explainer()).addTo(table);
        new RunFork(rooms.missions(), rooms.ids(), reads, admission, credits, submission).addTo(table);
        new TaskActions(reads, submission).addTo(table);
        new AgentActions(reads, submission).addTo(table);
        new RosterActions(rooms.roster(), keyed).addTo(table);
        EscalationActions escalations = new EscalationActions(reads, submission);
        escalations.addTo(table);
        InboxItems items = new InboxItems(reads, rooms.database(), rooms.inbox());
        new InboxActions(items, rooms.access().keys(), keyed).addTo(table);
        ProposalActions proposals = new ProposalActions(reads, submission);
        proposals.addTo(table);
        new InboxDecisions(reads, submission, escalations, proposals).addTo(table);
        new StepActions(reads, submission).addTo(table);
        new DispatchActions(rooms.remoteWork(), poll).addTo(table);
        new UploadActions(rooms.remoteWork(), rooms.artifacts()).addTo(table);
        new WorkerActions(reads, rooms.remoteWork(), rooms.tools()).addTo(table);
        new CreditActions(rooms.money(), rooms.access().workspaces()).addTo(table);
        new LedgerActions(reads, rooms.money()).addTo(table);
        new PriceActions(rooms.money().prices(), rooms.commands()::settingsChanged).addTo(table);
        new SecretActions(rooms.secrets()).addTo(table);
        new BoardActions(new Board(rooms.database()), keyed).addTo(table);
        new ReportActions(new Reports(rooms.database()), new ReportTexts(rooms.database())).addTo(table);
        new KeyActions(rooms.access().keys(), rooms.access().workspaces()).addTo(table);
        new WebhookActions(rooms.webhooks(), rooms.ids()).addTo(table);
        new WorkspaceActions(rooms.access().workspaces(), reads, rooms.purger(), rooms.ids(), keyed,
                rooms.commands()::settingsChanged).addTo(table);
        new AuditActions(rooms.access().audit()).addTo(table);
        new MetricsActions(observed, door).addTo(table);
        new EngineActions(rooms.ready(), reads, openApi).addTo(table);
        return table.routes();
    }
}
