package io.keelson.cli.definitions;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.MissionFile;
import io.keelson.client.AgentRequest;
import io.keelson.client.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Options that describe an agent. */
final class AgentOptions {

    @Option(names = "--file", paramLabel = "FILE", description = "A YAML or JSON file, or - for standard input.")
    @Nullable String file;

    @Option(names = "--name", paramLabel = "NAME", description = "Name shown to people; the slug by default.")
    @Nullable String name;

    @Option(names = "--description", paramLabel = "TEXT", description = "Description shown to people.")
    @Nullable String description;

    @Option(names = "--model", paramLabel = "MODEL", description = "The model that its turns use.")
    @Nullable String model;

    @Option(names = "--instructions", paramLabel = "TEXT", description = "Instructions for each turn.")
    @Nullable String instructions;

    @Option(names = "--tool", paramLabel = "TOOL", description = "A tool that its turns may call; repeatable.")
    @Nullable List<String> tools;

    @Option(names = "--capability", paramLabel = "TYPE",
            description = "A type of task that it can do, such as research; repeatable.")
    @Nullable List<String> capabilities;

    @Option(names = "--max-turns", paramLabel = "COUNT", description = "Maximum number of turns of one task.")
    @Nullable Integer maxTurns;

    @Option(names = "--runs-on", paramLabel = "PLACE",
            description = "Executor of the turns: server or workers; by default the server if its model is configured there.")
    @Nullable String runsOn;

    /** @param slug null when the file has it, or when it is not needed */
    AgentRequest request(@Nullable String slug) {
        ObjectNode document = Json.object();
        if (file != null) {
            JsonNode read = MissionFile.read(file).document();
            if (!(read instanceof ObjectNode object)) {
                throw CliException.usage("INVALID_AGENT", file + " is not an agent: it contains no object");
            }
            document = object.deepCopy();
        }
        put(document, "slug", slug);
        put(document, "name", name);
        put(document, "description", description);
        put(document, "model", model);
        put(document, "instructions", instructions);
        put(document, "runs_on", runsOn);
        AgentRequest request = AgentRequest.of(document);
        if (tools != null) {
            request.tools(tools);
        }
        if (capabilities != null) {
            request.capabilities(capabilities);
        }
        if (maxTurns != null) {
            request.maxTurns(maxTurns);
        }
        return request;
    }

    private static void put(ObjectNode into, String key, @Nullable String value) {
        if (value != null) {
            into.put(key, value);
        }
    }
}
