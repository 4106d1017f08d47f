package io.keelson.server.annex.mcp.endpoint;

import io.keelson.server.annex.mcp.wire.Mcp;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A tool that clients may call.
 *
 * @param scope that a key must have to see and to call it
 * @param input JSON Schema of its arguments
 * @param check the same, compiled; null where the handler checks the arguments itself
 * @param output JSON Schema of its structured result
 * @param starts whether its result is a run, which may be answered as a task
 */
record OfferedTool(String name, String title, String description, Scope scope, ObjectNode input,
        @Nullable DeclaredSchema check, ObjectNode output, Hints hints, boolean starts, Handler handler) {

    /**
     * The effects as clients see them.
     *
     * @param reads changes nothing
     * @param destroys may change or end existing objects
     * @param repeats has no further effect with the same arguments
     * @param world reaches beyond the workspace
     */
    record Hints(boolean reads, boolean destroys, boolean repeats, boolean world) {
        static final Hints READS = new Hints(true, false, true, false);
        /** A run calls the tools of its plan, with all their effects. */
        static final Hints STARTS = new Hints(false, true, false, true);
    }

    /** Executes a call of the tool. */
    interface Handler {
        Outcome answer(Incoming call, ObjectNode arguments) throws IOException, InterruptedException;
    }

    /** The outcome of a call. */
    sealed interface Outcome {
        /** A structured result. */
        record Document(ObjectNode json) implements Outcome {}

        /** A run that was started. */
        record Run(UUID id) implements Outcome {}
    }

    /** As lists show it. */
    ObjectNode document(Incoming incoming) {
        ObjectNode document = Json.object().put("name", name).put("title", title).put("description", description);
        document.set("inputSchema", input);
        document.set("outputSchema", output);
        document.putObject("annotations").put("readOnlyHint", hints.reads).put("destructiveHint", hints.destroys)
                .put("idempotentHint", hints.repeats).put("openWorldHint", hints.world);
        if (starts && incoming.version().equals(Mcp.LEGACY)) {
            document.putObject("execution").put("taskSupport", "optional");
        }
        return document;
    }

    static ObjectNode schema(String json) {
        return (ObjectNode) Json.read(json);
    }
}
