package io.keelson.server.api.http.runs;

import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.retention.EventRetention;
import io.keelson.server.tenant.auth.Scope;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Events that are no longer in the database: where a list begins later than it should, it says so. */
public final class ExportedEvents {

    private final Reads reads;
    private final ArtifactStore store;

    public ExportedEvents(Reads reads, ArtifactStore store) {
        this.reads = reads;
        this.store = store;
    }

    public void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events/exported", this::content);
    }

    private ApiResponse content(ApiRequest request) throws IOException {
        UUID run = request.id("id", IdKind.RUN);
        List<EventRetention.Export> exports =
                reads.ofRun(request.workspace(), run, (runs, c) -> EventRetention.exports(c, request.workspace(), run));
        List<InputStream> files = new ArrayList<>(List.of(new ByteArrayInputStream(new byte[0])));
        try {
            for (EventRetention.Export each : exports) {
                files.add(store.open(each.file().storageKey()));
            }
        } catch (IOException e) {
            for (InputStream file : files) {
                file.close();
            }
            throw ArtifactActions.unreadable(e);
        }
        return ApiResponse.stream("application/jsonl",
                exports.stream().mapToLong(each -> each.file().sizeBytes()).sum(),
                new SequenceInputStream(Collections.enumeration(files)));
    }

    /**
     * A list of events, with {@code exported} where some that belong in it have been exported: until which one, and when.
     * Events have no gaps, so only a list that does not begin where it should is looked at.
     */
    static ApiResponse named(Reads reads, UUID workspace, UUID run, long after, List<ObjectNode> found,
            ApiResponse list) {
        if (!found.isEmpty() && found.getFirst().get("seq").longValue() == after + 1
                || !(list.content() instanceof ApiResponse.Content.Document(String type, var json))
                || !(json instanceof ObjectNode document)) {
            return list;
        }
        List<EventRetention.Export> exports =
                reads.read((runs, c) -> EventRetention.exports(c, workspace, run)).stream()
                        .filter(each -> each.file().lastSeq() > after).toList();
        if (!exports.isEmpty()) {
            EventRetention.Export last = exports.getLast();
            document.putObject("exported").put("last_seq", last.file().lastSeq())
                    .put("events", exports.stream().mapToLong(
                            each -> each.file().lastSeq() - Math.max(after, each.file().firstSeq() - 1)).sum())
                    .put("exported_at", Json.time(last.exportedAt()))
                    .put("content", "/api/v1/runs/" + run + "/events/exported");
        }
        return list;
    }
}
