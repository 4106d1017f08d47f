package io.keelson.server.annex.mcp.gateway;

import io.keelson.core.plan.ToolPolicy;
import io.keelson.server.api.http.gateway.StepTokens;
import io.keelson.server.api.http.support.Mount;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.execute.RecordedAnswers;
import io.keelson.server.engine.store.read.ProgramCallRecords;
import io.keelson.server.engine.tool.ToolCatalog;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** The entrance of this package: the path at which programs call tools. */
public final class ToolGateway implements AutoCloseable {
    private final Database database;
    private final Sources sources;
    private final ProgramCallRecords records;
    private final CallEnds ends;

    /**
     * Parts of the server that the gateway reads.
     *
     * @param announced the announcements of a workspace's workers, by tool
     * @param rules of workspaces about tools
     * @param parkAfter time after which the program of a call that waits for a person is ended
     */
    public record Sources(Function<UUID, Map<String, JsonNode>> announced, Function<UUID, ToolPolicy.Rule> rules,
            ToolGatewayObserver observer, Duration parkAfter) {}

    public ToolGateway(Database database, Sources sources) {
        this.database = database;
        this.sources = sources;
        this.records = new ProgramCallRecords(database);
        this.ends = new CallEnds(records);
    }

    /** The task that reads the ends of calls. */
    public BackgroundTask task() {
        return ends.task();
    }

    /**
     * The path.
     *
     * @param catalog the tools of this server and of its workspaces
     * @param version shown to clients
     */
    public Mount mount(Commands commands, ToolCatalog catalog, String version) {
        ToolCalls calls = new ToolCalls(records, commands, ends, new RecordedAnswers(database), sources.observer,
                sources.parkAfter);
        ProgramTools tools = new ProgramTools(
                new ProgramTools.Sources(catalog, sources.announced, sources.rules, records));
        return new ToolMount(new StepTokens(database), tools, calls, version);
    }

    @Override
    public void close() throws InterruptedException {
        ends.close();
    }
}
