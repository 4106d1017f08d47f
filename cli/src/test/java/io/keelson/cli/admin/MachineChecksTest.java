package io.keelson.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.app.Settings;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineChecksTest {

    @TempDir
    private Path folder;

    @Test
    void tooFewOpenFilesForTheSlotsAreAWarning() throws Exception {
        Settings settings = Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_WAITING_SLOTS",
                "10000", "KEELSON_HTTP_CONNECTIONS", "1000"), folder, folder);

        assertThat(MachineChecks.slots(settings, 11_500)).isEqualTo(CheckResult.ok("slots",
                "128 steps that compute, 10,000 that wait"));
        assertThat(MachineChecks.slots(settings, 11_499)).isEqualTo(CheckResult.warn("slots",
                "128 steps that compute, 10,000 that wait; a process may have 11,499 open files",
                "raise the limit (ulimit -n) to 11500, or lower KEELSON_WAITING_SLOTS or KEELSON_HTTP_CONNECTIONS"));
    }
}
