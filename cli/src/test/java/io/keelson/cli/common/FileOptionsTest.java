package io.keelson.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.cli.InProcessCli;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that options name, without a server. */
class FileOptionsTest {

    @TempDir
    private Path folder;

    private CliProcess.Result run(String command, Path file) {
        List<String> arguments = new ArrayList<>(List.of(command.split(" ")));
        arguments.add(file.toString());
        return InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_URL", "http://127.0.0.1:1"),
                arguments.toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {"secrets set name --file", "tools register name --input-schema", "run"})
    void unusableFileIsNamed(String command) {
        CliProcess.Result missing = run(command, folder.resolve("missing"));
        assertThat(missing.code()).isEqualTo(2);
        assertThat(missing.err()).contains("FILE_NOT_FOUND", "missing");

        CliProcess.Result unreadable = run(command, folder);
        assertThat(unreadable.code()).isEqualTo(2);
        assertThat(unreadable.err()).contains("FILE_UNREADABLE", "is a folder");
    }
}
