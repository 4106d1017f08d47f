package io.keelson.server.http;

import io.keelson.server.artifact.ArtifactStore;
import io.keelson.server.auth.Scope;
import io.keelson.server.run.EventLife;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Events that are no longer in the database: where a list begins later than it should, it says so. */
final class ExportedEvents {

    private final Reads reads;
    private final ArtifactStore store;

    ExportedEvents(Reads reads, ArtifactStore store) {
        this.reads = reads;
        this.store = store;
    }

    void addTo(Route.Table table) {
        table.getAlso(Scope.RUNS_READ, "/runs/{id}/events/exported", this::content);
    }

    private Answer content(Call call) throws IOException {
        call.query().done();
        UUID run = call.id("id", IdKind.RUN);
        List<EventLife.Export> exports =
                reads.ofRun(call.workspace(), run, (runs, c) -> EventLife.exports(c, call.workspace(), run));
        List<InputStream> files = new ArrayList<>(List.of(new ByteArrayInputStream(new byte[0])));
        try {
            for (EventLife.Export each : exports) {
                files.add(store.open(each.file().storageKey()));
            }
        } catch (NoSuchFileException e) {
            for (InputStream file : files) {
                file.close();
            }
            throw Refusal.of(ErrorCode.ARTIFACT_CONTENT_MISSING, "the artifact store has no file of them");
        }
        return Answer.stream("application/jsonl", exports.stream().mapToLong(each -> each.file().sizeBytes()).sum(),
                new SequenceInputStream(Collections.enumeration(files)));
    }

    /**
     * A list of events, with {@code exported} where some that belong in it have been exported: until which one, and when.
     * Events have no gaps, so only a list that does not begin where it should is looked at.
     */
    static Answer named(Reads reads, UUID workspace, UUID run, long after, List<ObjectNode> found, Answer list) {
        if (!found.isEmpty() && found.getFirst().get("seq").longValue() == after + 1
                || !(list.content() instanceof Answer.Content.Document(String type, var json))
                || !(json instanceof ObjectNode document)) {
            return list;
        }
        List<EventLife.Export> exports = reads.read((runs, c) -> EventLife.exports(c, workspace, run)).stream()
                .filter(each -> each.file().lastSeq() > after).toList();
        if (!exports.isEmpty()) {
            EventLife.Export last = exports.getLast();
            document.putObject("exported").put("last_seq", last.file().lastSeq())
                    .put("events", exports.stream().mapToLong(
                            each -> each.file().lastSeq() - Math.max(after, each.file().firstSeq() - 1)).sum())
                    .put("exported_at", Json.time(last.exportedAt()))
                    .put("content", "/api/v1/runs/" + run + "/events/exported");
        }
        return list;
    }
}
