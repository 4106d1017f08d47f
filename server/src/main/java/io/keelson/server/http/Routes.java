package io.keelson.server.http;

import java.util.List;

/** All that is served. */
final class Routes {

    private Routes() {}

    static List<Route> of(Rooms rooms, LongPoll poll) {
        Reads reads = new Reads(rooms.database(), rooms.runs());
        Submission submission = new Submission(rooms.commands());
        Route.Table table = new Route.Table();
        new RunCreation(rooms.missions(), rooms.ids(), reads, submission).addTo(table);
        new RunViews(reads, poll, rooms.commands()).addTo(table);
        new RunActions(reads, submission).addTo(table);
        new ArtifactActions(reads, rooms.artifacts()).addTo(table);
        new ExplainActions(reads, rooms.database(), rooms.explainer()).addTo(table);
        new RunFork(rooms.missions(), rooms.ids(), reads, submission).addTo(table);
        new TaskActions(reads, submission).addTo(table);
        new AgentActions(reads, submission).addTo(table);
        new EscalationActions(reads, submission).addTo(table);
        new StepActions(reads, submission).addTo(table);
        new DispatchActions(rooms.remoteWork(), poll).addTo(table);
        new WorkerActions(reads, rooms.remoteWork(), rooms.tools()).addTo(table);
        new CreditActions(rooms.money()).addTo(table);
        new LedgerActions(reads, rooms.money()).addTo(table);
        new PriceActions(rooms.money().prices()).addTo(table);
        new EngineActions(rooms.ready(), reads, OpenApi.document()).addTo(table);
        return table.routes();
    }
}
