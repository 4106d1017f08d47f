package io.keelson.server.annex.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShellTest {

    @Test
    void aProgramThatCannotBeStartedIsExplained(@TempDir Path folder) throws IOException {
        Path missing = folder.resolve("initdb");
        Path plain = Files.writeString(folder.resolve("pg_ctl"), "#!/bin/sh");

        assertThat(Shell.run(List.of(missing.toString())).output()).isEqualTo(missing + " was not found.");
        assertThat(Shell.run(List.of(plain.toString())).output()).isEqualTo(plain + " may not be executed:"
                + " check its permissions, and that its file system is not mounted with noexec.");
    }
}
