package io.keelson.cli.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Run;
import io.keelson.cli.InProcessCli;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** A program that asks a person is ended by its worker, and gets the answer in its next execution. The next heartbeat takes 10 s. */
class ProgramWaitsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String PROGRAM = """
            echo "$$" >>"$MARK/pids"
            curl -s -X POST "$KEELSON_MCP_URL" -H "Authorization: Bearer $KEELSON_STEP_TOKEN" -H 'Content-Type: application/json' \\
                -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask_person", "arguments": {"question": "Go?"}}}'
            """;

    @TempDir
    private static Path folder;

    @Test
    void workerEndsTheProgramUntilThePersonAnswers() throws Exception {
        assumeTrue(Breadth.all());
        Map<String, String> settings = Map.of("KEELSON_PARK_SECONDS", "1", "KEELSON_LEASE_SECONDS", "6");
        try (InProcessCli cli = new InProcessCli(folder, TestDatabase.createUrl(), settings)) {
            Keelson keelson = cli.client();
            Files.writeString(folder.resolve("program.sh"), PROGRAM);
            cli.lines("tools", "register", "p.ask");
            Map<String, String> environment = new HashMap<>(System.getenv());
            environment.put("KEELSON_DATA_DIR", folder.toString());
            Thread worker = Thread.ofPlatform().daemon().start(() -> InProcessCli.run(environment, "worker", "--grace",
                    "0", "--drain", "0", "--tool", "p.ask", "--env", "MARK=" + folder, "--", "sh",
                    folder.resolve("program.sh").toString()));
            Run run = keelson.runs().create(Mission.named("asks").task("t", t -> t.step("s", "p.ask", Map.of(), s -> s))
                    .output(Mission.expr(".tasks.t.output")).start());
            Awaitility.await().atMost(PATIENCE).until(() -> keelson.runs().steps(run.id()).getFirst().state()
                    .equals("waiting") && started().stream().noneMatch(ProgramWaitsTest::runs));
            assertThat(started()).hasSize(1);
            InboxItem question = keelson.inbox().list(InboxQuery.all()).items().getFirst();
            keelson.inbox().answer(question.id(), JsonNodeFactory.instance.stringNode("yes"), null);
            Awaitility.await().atMost(PATIENCE).until(() -> keelson.runs().get(run.id()).state().equals("completed"));
            Run ended = keelson.runs().get(run.id());
            assertThat(ended.output().at("/result/content/0/text").stringValue()).isEqualTo("yes");
            assertThat(started()).hasSize(2);
            assertThat(keelson.runs().steps(run.id()).getFirst().attempt()).isEqualTo(1);
            worker.interrupt();
            worker.join();
        }
    }

    /** The process ids of the program's executions. */
    private static List<String> started() throws Exception {
        Path pids = folder.resolve("pids");
        return Files.exists(pids) ? Files.readAllLines(pids) : List.of();
    }

    private static boolean runs(String pid) {
        return ProcessHandle.of(Long.parseLong(pid)).filter(ProcessHandle::isAlive).isPresent();
    }
}
