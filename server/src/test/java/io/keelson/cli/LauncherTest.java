package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script {@code keelson} in front of a program that only says with which locale it was started. */
class LauncherTest {

    @TempDir
    Path checkout;

    @BeforeEach
    void checkOut() throws Exception {
        Files.copy(Path.of("..", "keelson"), checkout.resolve("keelson"));
        Files.createDirectories(checkout.resolve("server/target"));
        Files.createFile(checkout.resolve("server/target/keelson.jar"));
        Files.createDirectories(checkout.resolve("jdk/bin"));
        Files.createFile(checkout.resolve("jdk/release"));
        script("scripts/find-jdk", "echo " + checkout.resolve("jdk"));
        script("scripts/aot-cache", "true");
        script("jdk/bin/java", "echo ${LC_ALL:-${LC_CTYPE:-$LANG}}");
    }

    @ParameterizedTest
    @CsvSource({"LC_ALL, C, C.UTF-8", "LC_ALL, POSIX, C.UTF-8", "LANG, '', C.UTF-8",
            "LC_ALL, de_DE.ISO-8859-1, C.UTF-8",
            "LC_ALL, de_DE.UTF-8, de_DE.UTF-8", "LANG, en_US.utf8, en_US.utf8"})
    void theLocaleIsAlwaysUtf8(String variable, String value, String expected) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", checkout.resolve("keelson").toString(), "runs");
        builder.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.startsWith("LANG"));
        builder.environment().put(variable, value);
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();

        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                .isEqualTo(expected);
        assertThat(process.waitFor()).isZero();
    }

    private void script(String name, String command) throws Exception {
        Path file = checkout.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, List.of("#!/bin/sh", command));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
