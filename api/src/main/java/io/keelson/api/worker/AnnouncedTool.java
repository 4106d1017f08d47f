package io.keelson.api.worker;

import io.keelson.api.Shape.MaxCharacters;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A worker's description of one of its tools.
 *
 * @param name one of the worker's tools
 * @param description one sentence for people and models
 * @param inputSchema JSON Schema of the input
 * @param effects effects of a call outside the run, as of {@code GET /tools}
 * @param gateway rights of a program that serves the tool at the gateway: {@code true} for all that the rules allow, or an
 *     object with lists {@code models} and {@code tools} of names. Without it a step of the tool gets no token
 */
@Request
public record AnnouncedTool(@Ref("Name") String name, @Nullable @Text(cleaned = true, max = 4096) String description,
        @Nullable @MaxCharacters(65_536) ObjectNode inputSchema,
        @Nullable @OneOf({
                "read", "idempotent", "once", "destructive"}) String effects,
        @Nullable @MaxCharacters(65_536) JsonNode gateway) {

    /**
     * Makes tools known before a worker claims their steps.
     *
     * @param workerId name under which the tools are kept; it need not be that of a worker
     * @param toolSpecs the tools
     */
    @Request
    public record Registration(@Ref("Name") String workerId,
            @Size(min = 1, max = 500) List<AnnouncedTool> toolSpecs) {}
}
