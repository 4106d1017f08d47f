package io.keelson.server.api.http;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** MCP servers and their tools, all on one server of Keelson. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class McpTest {
    private McpWorkspace mcp;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        mcp = new McpWorkspace(folder);
    }

    @AfterAll
    void stop() {
        mcp.close();
    }

    @Nested
    class Api extends McpApiCases {
        Api() {
            super(McpTest.this.mcp);
        }
    }

    @Nested
    class Questions extends McpQuestionCases {
        Questions() {
            super(McpTest.this.mcp);
        }
    }

    @Nested
    class ChangedTools extends McpChangedToolCases {
        ChangedTools() {
            super(McpTest.this.mcp);
        }
    }

    @Nested
    class Programs extends McpProgramCases {
        Programs() {
            super(McpTest.this.mcp);
        }
    }
}
