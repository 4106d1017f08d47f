package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.keelson.cli.CliProcess;
import io.keelson.cli.InProcessCli;
import io.keelson.client.Keelson;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunPrefixTest {

    private static final String NONE = "00000000-0001";

    @TempDir
    static Path folder;

    @ParameterizedTest
    @CsvSource({"01a227c2-dec4, 2026-11-29T14:43:32.164Z, 2026-11-29T14:43:32.164Z",
            "01a227c2-dec4-7, 2026-11-29T14:43:32.164Z, 2026-11-29T14:43:32.164Z",
            "01a227c2, 2026-11-29T14:42:35.136Z, 2026-11-29T14:43:40.671Z"})
    void aPrefixIsASpanOfTime(String text, Instant earliest, Instant latest) {
        RunPrefix prefix = new RunPrefix(text);

        assertThat(List.of(prefix.earliest(), prefix.latest())).containsExactly(earliest, latest);
    }

    @Test
    void anOlderRunIsFoundByItsTime() throws Exception {
        try (InProcessCli cli = new InProcessCli(folder, TestDatabase.createUrl(), Map.of())) {
            Keelson keelson = cli.client();
            String mission = CliProcess.mission(folder, "plan: {tasks: [{id: a, steps: [{tool: noop}]}]}");
            List<String> runs =
                    Stream.generate(() -> cli.run("run", mission, "--detach").out().strip()).limit(4).toList();

            for (String run : runs) {
                assertThat(RunPrefix.of(run.substring(0, 18)).orElseThrow().whole(keelson, 1)).isEqualTo(run);
            }
            assertThatExceptionOfType(CliException.class).isThrownBy(() -> new RunPrefix(NONE).whole(keelson))
                    .withMessage("none of the newest 200 runs begins with '" + NONE
                            + "', and none of 2000 runs of that time; give the whole id");
        }
    }
}
