package io.keelson.server.engine;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests on engines with a database of their own and a tool that waits until the test lets it go. All laws hold after each test. */
abstract class GatedEngines {
    final GateTool gate = new GateTool();
    Nodes nodes;

    /**
     * Makes the database and the tools. The test class calls the constructor, because {@link
     * io.keelson.server.base.db.TestDatabase} finds the class on the stack.
     */
    abstract Nodes open(Path folder) throws Exception;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        nodes = open(folder);
    }

    @AfterEach
    void stop() throws Exception {
        gate.open.release(1_000);
        try {
            nodes.assertSound();
        } finally {
            nodes.close();
        }
    }
}
