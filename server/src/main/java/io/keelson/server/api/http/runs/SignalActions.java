package io.keelson.server.api.http.runs;

import io.keelson.api.run.RunAction;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code POST /runs/{id}/signals/{name}}: sends a signal to a step that waits for it, now or later. */
public final class SignalActions {

    private final Reads reads;
    private final Ids ids;
    private final SignalCommands commands;
    private final Submission submission;

    public SignalActions(Reads reads, Ids ids, SignalCommands commands, Submission submission) {
        this.reads = reads;
        this.ids = ids;
        this.commands = commands;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/signals/{name}", RunAction.Signal.class, this::send);
    }

    private ApiResponse send(ApiRequest request, RunAction.Signal body) throws IOException, InterruptedException {
        String name = name(request);
        JsonNode payload = body.payload() == null ? JsonNodeFactory.instance.nullNode() : body.payload();
        UUID run = request.id("id", IdKind.RUN);
        SignalCommands.Prepared prepared = commands.prepare(request.workspace(), run, ids.next(), name, payload,
                request.actor(), check -> request.body().computed(check::problems));
        submission.submit(request, prepared.command());
        return ApiResponse.ok(reads.run(request.workspace(), run).put("awaited", prepared.awaited()));
    }

    private static String name(ApiRequest request) {
        String name = request.pathText("name");
        if (!SignalCommands.NAME.matcher(name).matches()) {
            throw ApiProblem.of(ErrorCode.INVALID_ID, "'" + Excerpt.piece(name)
                    + "' is not a valid signal name: 1 to 100 letters, digits, '.', '_' and '-'");
        }
        return name;
    }
}
