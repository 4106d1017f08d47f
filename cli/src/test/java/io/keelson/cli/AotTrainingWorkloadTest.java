package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunQuery;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The work that the start cache is made of. */
class AotTrainingWorkloadTest {
    @TempDir
    private Path folder;

    @Test
    void trainingRunsComplete() throws Exception {
        try (InProcessCli inProcessCli = new InProcessCli(folder)) {
            Keelson keelson = inProcessCli.client();
            AotTrainingWorkload.load(keelson, Duration.ofMillis(1));

            List<Run> runs = keelson.runs().list(RunQuery.all()).items();
            assertThat(runs).isNotEmpty().allMatch(Run::completed);
            assertThat(keelson.runs().steps(runs.getFirst().id())).hasSize(10)
                    .extracting(step -> step.tool()).containsSubsequence("noop", "training.step");
        }
    }

    @Test
    void everyWireTakesATurnWithACall() throws Exception {
        Path models = AotTrainingWorkload.models(folder);
        try (InProcessCli inProcessCli =
                new InProcessCli(folder, TestDatabase.createUrl(), Map.of("KEELSON_MODELS", models.toString()))) {
            Keelson keelson = inProcessCli.client();
            AotTrainingWorkload.turns(keelson);

            List<Run> runs = keelson.runs().list(RunQuery.all()).items();
            assertThat(runs).hasSize(3).allMatch(Run::completed);
            assertThat(keelson.runs().steps(runs.getFirst().id())).extracting(step -> step.tool())
                    .containsSubsequence("model.turn", "echo", "model.turn").contains("model.judge", "model.generate");
        }
    }

    @Test
    void everyCommandOfTheCacheForCommandsSucceeds() throws Exception {
        try (InProcessCli inProcessCli = new InProcessCli(folder)) {
            AotTrainingWorkload.load(inProcessCli.client(), Duration.ofMillis(1));

            assertThat(AotTrainingCommands.ALL).allSatisfy(
                    command -> inProcessCli.lines(command.toArray(String[]::new)));
        }
    }

    @Test
    void problemsAreNamed() throws Exception {
        try (InProcessCli inProcessCli =
                new InProcessCli(folder, TestDatabase.createUrl(), Map.of("KEELSON_INITIAL_CREDITS", "0"))) {
            assertThatThrownBy(() -> AotTrainingWorkload.load(inProcessCli.client(), Duration.ofMillis(1)))
                    .hasMessageContaining("INSUFFICIENT_CREDITS");
        }
    }
}
