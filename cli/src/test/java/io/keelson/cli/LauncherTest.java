package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script {@code keelson} in front of a program that only says with which locale and options it was started. */
class LauncherTest {

    @TempDir
    Path checkout;

    @BeforeEach
    void checkOut() throws Exception {
        Files.copy(Path.of("..", "keelson"), checkout.resolve("keelson"));
        Files.createDirectories(checkout.resolve("scripts"));
        Files.copy(Path.of("..", "scripts", "launch"), checkout.resolve("scripts/launch"));
        Files.createDirectories(checkout.resolve("cli/target"));
        Files.createFile(checkout.resolve("cli/target/keelson.jar"));
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

    @ParameterizedTest
    @CsvSource({"runs, client", "whoami, client", "--help, client", "show, client", "server, server", "run, server",
            "watch, server", "eval, server"})
    void theCacheIsThatOfTheKindOfCommand(String command, String kind) throws Exception {
        String caches = requestedCaches(command);
        Files.writeString(Path.of(caches + "-client.aot"), "classes");
        Files.writeString(Path.of(caches + "-server.aot"), "classes");

        assertThat(options(command)).contains("-XX:AOTCache=" + caches + "-" + kind + ".aot");
    }

    @Test
    void withoutAUsableCacheTheProgramStartsWithoutOne() throws Exception {
        Path cache = Path.of(requestedCaches("runs") + "-client.aot");

        recordRequests();
        Files.createFile(cache);
        assertThat(options("runs")).as("empty: it cannot be made").doesNotContain("AOTCache");
        assertThat(requested()).as("and is not tried again").doesNotExist();

        Files.writeString(cache, "classes");
        Files.setLastModifiedTime(cache, FileTime.fromMillis(1));
        assertThat(options("runs")).as("older than the jar").doesNotContain("AOTCache");
        Awaitility.await().until(() -> Files.exists(requested()));
    }

    @Test
    void anotherJdkHasAnotherCache() throws Exception {
        String caches = requestedCaches("runs");
        Files.writeString(checkout.resolve("jdk/release"), "JAVA_VERSION=26");

        assertThat(requestedCaches("runs")).isNotEqualTo(caches);
    }

    @Test
    void aFolderThatTakesNoCacheIsNoObstacle() throws Exception {
        Files.copy(Path.of("..", "scripts", "aot-cache"), checkout.resolve("scripts/aot-cache"),
                StandardCopyOption.REPLACE_EXISTING);
        Files.createFile(checkout.resolve("cli/target/aot"));

        assertThat(options("runs")).contains("-jar").doesNotContain("AOTCache");
    }

    @ParameterizedTest
    @CsvSource({"., keelson, ./keelson", "., ./keelson, ./keelson", "jdk/bin, keelson, ../../keelson",
            "/, keelson, keelson"})
    void messagesNameTheProgramWithoutTheWayToTheCheckout(String from, String called, String named) throws Exception {
        script("jdk/bin/java", "echo \"$@\"");
        Path program = called.startsWith(".") ? Path.of(called) : checkout.toRealPath().resolve(called);
        Process process = new ProcessBuilder("sh", program.toString(), "runs")
                .directory(checkout.toRealPath().resolve(from).toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();

        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("-Dkeelson.command=" + (from.equals("/") ? program : named) + " ");
        assertThat(process.waitFor()).isZero();
    }

    private void recordRequests() throws Exception {
        script("scripts/aot-cache", "echo \"$1\" >'%1$s.new'; mv '%1$s.new' '%1$s'".formatted(requested()));
    }

    private Path requested() {
        return checkout.resolve("requested");
    }

    /** The caches that a start without any has made in the background, without their kind. */
    private String requestedCaches(String command) throws Exception {
        recordRequests();
        assertThat(options(command)).doesNotContain("AOTCache");
        Awaitility.await().until(() -> Files.exists(requested()));
        script("scripts/aot-cache", "true");
        String caches = Files.readString(requested()).strip();
        Files.delete(requested());
        Files.createDirectories(checkout.resolve("cli/target/aot"));
        return caches;
    }

    /** The options that the JVM is started with. */
    private String options(String command) throws Exception {
        script("jdk/bin/java", "echo \"$@\"");
        Process process = new ProcessBuilder("sh", checkout.resolve("keelson").toString(), command)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String options = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return options;
    }

    private void script(String name, String command) throws Exception {
        Path file = checkout.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, List.of("#!/bin/sh", command));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
