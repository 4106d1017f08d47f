package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ten thousand tasks in one run: a hundred fan-outs of a hundred, each joined before the next. */
@Breadth.InPart(2)
class BigRunTest {
    private static final int STAGES = 100;
    private static final int WIDTH = 99;

    @TempDir
    Path folder;

    @Test
    void tenThousandTasksComplete() throws Exception {
        try (Nodes nodes = new Nodes(folder)) {
            UUID run = nodes.submit(nodes.node(), mission());
            Awaitility.await().atMost(Duration.ofMinutes(3)).pollInterval(Duration.ofMillis(100))
                    .untilAsserted(() -> assertThat(nodes.state(run)).isEqualTo("completed"));
            assertThat(nodes.count("SELECT tasks_completed FROM orchestration_runs")).isEqualTo(STAGES * (WIDTH + 1L));
            nodes.assertSound();
        }
    }

    private static String mission() {
        StringBuilder yaml = new StringBuilder("name: big\ngoal: g\nplan:\n  tasks:\n");
        for (int stage = 0; stage < STAGES; stage++) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < WIDTH; i++) {
                String on = stage == 0 ? "" : "depends_on: [j" + (stage - 1) + "], ";
                yaml.append("    - {id: t").append(stage).append('-').append(i).append(", ").append(on)
                        .append("steps: [{tool: noop}]}\n");
                all.append(i == 0 ? "" : ", ").append('t').append(stage).append('-').append(i);
            }
            yaml.append("    - {id: j").append(stage).append(", depends_on: [").append(all)
                    .append("], steps: [{tool: noop}]}\n");
        }
        return yaml.toString();
    }
}
