package io.keelson.server.outlet.statusdoc;

import io.keelson.core.lifecycle.RunState;
import io.keelson.server.base.artifact.DocumentStore;
import io.keelson.server.base.artifact.DocumentStore.Mark;
import io.keelson.server.base.artifact.DocumentStore.Writing;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.DocumentReader;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.read.StatusDocument;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Updates the documents of a run: steps' results in order of completion, the manifest at the attempt's end, and then
 * the status, so that readers find the documents that it refers to. Reads the facts while it has exclusive write
 * access, so they are never older than the documents.
 */
final class StatusDocumentWriter {

    private static final int STEP_BATCH_SIZE = 50;
    private final Database database;
    private final DocumentStore store;
    private final RunReader runs = new RunReader();

    StatusDocumentWriter(Database database, DocumentStore store) {
        this.database = database;
        this.store = store;
    }

    /** False when another writer has them: to be retried. */
    boolean write(UUID workspace, UUID run) throws IOException {
        try (Writing documents = store.open(run)) {
            if (documents == null) {
                return false;
            }
            ObjectNode now = database.withConnection(c -> runs.status(c, workspace, run)).orElse(null);
            if (now == null) {
                documents.remove();
                return true;
            }
            int attempt = now.get("attempt_number").intValue();
            long seq = now.get("last_seq").longValue();
            while (documents.mark().attempt() < attempt) {
                end(documents, run, seq);
            }
            Mark mark = documents.mark();
            if (mark.attempt() == attempt && mark.seq() <= seq && !mark.sealed()) {
                write(documents, run, now, seq);
            }
            return true;
        }
    }

    /** Finishes the documents of an attempt that a later one has replaced. */
    private void end(Writing documents, UUID run, long seq) throws IOException {
        int attempt = documents.mark().attempt();
        if (!documents.mark().sealed()) {
            ObjectNode past = database.withConnection(c -> DocumentReader.past(c, run, attempt)).orElse(null);
            if (past != null) {
                write(documents, run, past, seq);
            }
        }
        documents.shelve(attempt);
        documents.mark(new Mark(attempt + 1, 0, 0, false));
    }

    private void write(Writing documents, UUID run, ObjectNode row, long seq) throws IOException {
        steps(documents, run, seq);
        ObjectNode status = StatusDocument.of(run, row);
        boolean ended = RunState.of(row.get("state").stringValue()).terminal();
        if (ended) {
            documents.put("manifest.json", bytes(manifest(documents.mark(), run, status)));
        }
        documents.put("status.json", bytes(status));
        documents.mark(new Mark(documents.mark().attempt(), seq, documents.mark().steps(), ended));
    }

    private void steps(Writing documents, UUID run, long seq) throws IOException {
        List<ObjectNode> page;
        do {
            Mark mark = documents.mark();
            page = database.withConnection(
                    c -> DocumentReader.steps(c, run, mark.attempt(), mark.seq(), seq, STEP_BATCH_SIZE));
            long number = mark.steps();
            long last = mark.seq();
            for (ObjectNode step : page) {
                last = step.remove("seq").longValue();
                ObjectNode result = Json.object();
                result.set("run_id", step.get("run_id"));
                result.put("step", ++number).setAll(step);
                documents.put("steps/" + number + ".json", bytes(result));
            }
            if (!page.isEmpty()) {
                documents.mark(new Mark(mark.attempt(), last, number, false));
            }
        } while (page.size() == STEP_BATCH_SIZE);
    }

    private ObjectNode manifest(Mark mark, UUID run, ObjectNode status) {
        ObjectNode manifest = Json.object();
        for (String member : new String[] {"run_id", "agent_slug", "status", "started_at", "finished_at"}) {
            manifest.set(member, status.get(member));
        }
        manifest.put("attempt", mark.attempt()).put("steps", mark.steps());
        List<ObjectNode> artifacts =
                database.withConnection(c -> DocumentReader.artifacts(c, run, mark.attempt()));
        manifest.putArray("artifacts").addAll(artifacts);
        return manifest;
    }

    private static byte[] bytes(JsonNode document) {
        return Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(document);
    }
}
