package io.keelson.cli.authoring;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.DocumentFile;
import io.keelson.client.Keelson;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.json.OutsideJson;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "register",
        description = "Makes a tool of workers known before a worker claims its steps, so that missions may name it.",
        footerHeading = "%nExample:%n",
        footer = "  keelson tools register crm.update --effects idempotent --input-schema crm.json")
final class ToolsRegisterCommand extends ClientCommand {
    /** The name under which tools are kept that no claim has announced. */
    private static final String KEPT_UNDER = "registered";

    @Parameters(index = "0", paramLabel = "NAME", description = "The tool, as its worker will claim it.")
    String name = "";

    @Option(names = "--description", paramLabel = "TEXT", description = "One sentence for people and models.")
    @Nullable String description;

    @Option(names = "--effects", paramLabel = "EFFECTS",
            description = "read, idempotent, once or destructive: how agents' calls are made.")
    @Nullable String effects;

    @Option(names = "--input-schema", paramLabel = "FILE", description = "JSON Schema of the input.")
    @Nullable Path schema;

    private final ObjectNode body = Json.object().put("worker_id", KEPT_UNDER);

    @Override
    protected void prepare() {
        ObjectNode tool = body.putArray("tool_specs").addObject().put("name", name);
        if (description != null) {
            tool.put("description", description);
        }
        if (effects != null) {
            tool.put("effects", effects);
        }
        if (schema != null) {
            tool.set("input_schema", document(schema));
        }
    }

    @Override
    protected void run(Keelson keelson) {
        keelson.api().post("/dispatch/register", body);
        say(name + " is known; its steps wait until a worker claims them");
    }

    private static JsonNode document(Path file) {
        try {
            return OutsideJson.readStrict(DocumentFile.bytes(file.toString(), "schema"));
        } catch (JacksonException e) {
            throw CliException.usage("MALFORMED_JSON", file + ": " + e.getOriginalMessage());
        }
    }
}
