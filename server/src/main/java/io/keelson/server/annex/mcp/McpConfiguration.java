package io.keelson.server.annex.mcp;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.mission.plan.ReadResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the commands of MCP servers that the settings name. */
final class McpConfiguration {

    private McpConfiguration() {}

    /**
     * Reads the file; no commands without one.
     *
     * @throws StartupException {@code MCP_SERVERS_FILE_INVALID} with all problems
     */
    static McpCommands read(@Nullable Path file) throws StartupException {
        if (file == null) {
            return McpCommands.NONE;
        }
        byte[] content;
        try {
            content = Files.readAllBytes(file);
        } catch (IOException e) {
            throw new StartupException("MCP_SERVERS_FILE_INVALID", "cannot read the file " + file
                    + " that KEELSON_MCP_SERVERS names: " + FileProblems.reason(e), e);
        }
        return switch (McpCommands.read(content, file.toString())) {
            case ReadResult.Ok<McpCommands>(McpCommands commands) -> commands;
            case ReadResult.Invalid<McpCommands>(List<PlanProblem> problems) -> throw new StartupException(
                    "MCP_SERVERS_FILE_INVALID", "cannot use the file " + file + " that KEELSON_MCP_SERVERS names: "
                            + problems.stream().map(each -> each.pointer() + ": " + each.message())
                                    .collect(Collectors.joining("; ")),
                    null);
        };
    }
}
