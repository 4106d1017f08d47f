package io.keelson.server.engine.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.ServerLog;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conditions of runs that an operator finds in the log: one entry each, at the level info. */
class RunLogTest {

    private static ServerLog log;
    private static ApiServer api;
    private static Path file;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        file = folder.resolve("server.log");
        log = ServerLog.into(file);
        api = new ApiServer(folder.resolve("data"));
    }

    @AfterAll
    static void stop() {
        api.close();
        log.close();
    }

    @Test
    void aFailedRunLeavesOneLineWithItsCause() throws Exception {
        String run = api.create("""
                {"name": "r", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "fail", "input": {"message": "no\\nluck"}, "retry": {"max_attempts": 1}}]}]}}""");
        api.awaitState(run, "failed");

        assertThat(entries(run)).singleElement().asString()
                .startsWith("INFO io.keelson.server.engine.commit.RunLog - run " + run + " failed in attempt 1: ")
                .contains("no luck");
    }

    @Test
    void anEscalatedRunLeavesOneLineWithItsTicket() throws Exception {
        String run = api.create("""
                {"name": "r", "start": true, "config": {"escalation": {"enabled": true, "on_exhausted": true}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "fail", "retry": {"max_attempts": 1}}]}]}}""");
        String ticket = api.awaitState(run, "escalated").get("escalation_ticket_id").stringValue();

        assertThat(entries(run)).singleElement().asString()
                .startsWith("INFO io.keelson.server.engine.commit.RunLog - run " + run + " is escalated by ticket "
                        + ticket + ": ");
    }

    @Test
    void aLostWorkerLeavesOneLineForAllItsStepsOfTheRun() throws Exception {
        String claim = """
                {"worker_id": "mortal", "tools": ["log.test"], "max": 2, "lease_ms": 1000}""";
        api.post("/api/v1/dispatch/claim", claim);
        String run = api.create("""
                {"name": "r", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "log.test"}]}]}}""");
        Awaitility.await().until(() -> !api.post("/api/v1/dispatch/claim", claim).json().get("items").isEmpty());

        Awaitility.await().untilAsserted(() -> assertThat(entries(run)).singleElement().asString()
                .startsWith(
                        "INFO io.keelson.server.engine.commit.RunLog - run " + run
                                + " lost worker mortal: the lease of its step "));
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    private static List<String> entries(String run) throws Exception {
        return Files.readAllLines(file).stream().filter(line -> line.contains("run " + run + " ")).toList();
    }
}
