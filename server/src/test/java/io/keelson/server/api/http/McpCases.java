package io.keelson.server.api.http;

import io.keelson.server.annex.mcp.FakeMcpServer;
import java.time.Duration;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests in the workspace of {@link McpTest}, which run one after the other. */
@Execution(ExecutionMode.SAME_THREAD)
abstract class McpCases {
    static final Duration LIMIT = Duration.ofSeconds(60);

    final McpWorkspace mcp;
    final ApiServer api;
    final FakeMcpServer other;

    McpCases(McpWorkspace mcp) {
        this.mcp = mcp;
        this.api = mcp.api;
        this.other = mcp.other;
    }
}
