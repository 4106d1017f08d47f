package io.keelson.cli.runs;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.cli.CliProcess;
import io.keelson.cli.InProcessCli;
import io.keelson.cli.common.ExitCode;
import io.keelson.client.EventStream;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** Events as a shell and a Java program follow them. */
class EventsCommandTest {
    private static final String MISSION = """
            {"name": "short", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""";

    private static String keelsonRefuses(Keelson keelson, String path) {
        return Assertions.catchThrowableOfType(KeelsonException.class, () -> keelson.api().get(path)).getMessage();
    }

    @Test
    void eventsArePrintedAndFollowed(@TempDir Path folder) throws Exception {
        try (InProcessCli inProcessCli = new InProcessCli(folder)) {
            Keelson keelson = inProcessCli.client();
            try (EventStream all = keelson.eventStream(Set.of("run.status.changed"), true, 0L)) {
                String id = keelson.api().post("/runs", JsonMapper.shared().readTree(MISSION)).get("id").stringValue();
                Run ended = keelson.runs().awaitEnd(id, Duration.ofSeconds(30));
                assertThat(ended.state()).isEqualTo("completed");
                List<String> statuses = new ArrayList<>();
                while (!statuses.contains("completed")) {
                    statuses.add(Objects.requireNonNull(all.next()).data().get("status").stringValue());
                }
                assertThat(statuses).containsSubsequence("running", "completed");
                try (EventStream one = keelson.runs().eventStream(id, Set.of("step_completed"), true, 0)) {
                    assertThat(Objects.requireNonNull(one.next()).type()).isEqualTo("run.step.completed");
                    assertThat(one.next()).isNull();
                }
            }
            assertThat(keelsonRefuses(keelson, "/events/stream?types=task_complete")).contains("INVALID_PARAMETER",
                    "did you mean 'task_completed'?");
            CliProcess.Result misspelt = inProcessCli.run("events", "latest", "--types", "task_failed,run_complete");
            assertThat(misspelt.code()).isEqualTo(ExitCode.USAGE);
            assertThat(misspelt.err()).contains(
                    "unknown event type 'run_complete'; did you mean 'run_completed'?",
                    "[EVENT_TYPE_UNKNOWN]");
            List<String> lines = inProcessCli.lines("events", "latest");
            assertThat(lines.getFirst()).startsWith("1  ").contains("  run_created");
            assertThat(lines.getLast()).contains("run_completed").endsWith("running → completed  credits_refunded=1");
            assertThat(lines).anySatisfy(line -> assertThat(line).contains("task_started  task a  "))
                    .anySatisfy(line -> assertThat(line).contains("step_completed  step a/step-1  "));
            assertThat(inProcessCli.lines("report", "latest").getFirst()).isEqualTo("# short");
            List<String> json = inProcessCli.lines("events", "--types", "step_completed", "--json");
            assertThat(json).hasSize(1);
            assertThat(JsonMapper.shared().readTree(json.getFirst()).get("step").intValue()).isEqualTo(1);
        }
    }
}
