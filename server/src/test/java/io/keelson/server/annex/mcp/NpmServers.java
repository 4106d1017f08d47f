package io.keelson.server.annex.mcp;

import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Servers, clients and suites of the npm registry, installed below {@code target} at the versions of the lock file. */
public final class NpmServers {
    private static final Path SOURCE = Path.of("src/test/npm");
    private static final Path TARGET = Path.of("target/npm").toAbsolutePath();

    private NpmServers() {}

    /** The command of a package's program. Skips the test where node and npm are missing. */
    public static List<String> command(String name, String... arguments) {
        return command(script(name), arguments);
    }

    private static List<String> command(Path script, String... arguments) {
        List<String> command = new ArrayList<>(List.of("node", script.toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The command of a program of our own that uses the packages. */
    public static List<String> own(String file, String... arguments) {
        return command(copy(file), arguments);
    }

    /** The command of a conformance suite. */
    public static List<String> suite(String name, String... arguments) {
        List<String> command = new ArrayList<>(List.of("node", "--import", copy("glob.mjs").toString(),
                TARGET.resolve("node_modules").resolve(name).resolve("dist/index.js").toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** A file beside the list of packages. */
    public static Path source(String file) {
        return SOURCE.resolve(file).toAbsolutePath();
    }

    private static Path copy(String file) {
        installed();
        try {
            Path copy = TARGET.resolve(file);
            Files.writeString(copy, Files.readString(SOURCE.resolve(file)));
            return copy;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Path script(String name) {
        Path folder = installed().resolve("node_modules/@modelcontextprotocol").resolve(name);
        try {
            return folder.resolve(Json.read(Files.readString(folder.resolve("package.json"))).path("bin").iterator()
                    .next().asString());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    public static boolean available() {
        return runs("node", "--version") && runs("npm", "--version");
    }

    /** Skips the test where node and npm are missing. */
    public static void assumeAvailable() {
        Assumptions.assumeTrue(available(),
                "LEFT OUT: node and npm are not here, so nothing was tried with the servers of the npm registry");
    }

    private static synchronized Path installed() {
        assumeAvailable();
        try {
            Files.createDirectories(TARGET);
            try (FileChannel lock = FileChannel.open(TARGET.resolve("lock"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE);
                    var _ = lock.lock()) {
                String wanted = Files.readString(SOURCE.resolve("package-lock.json"));
                Path have = TARGET.resolve("package-lock.json");
                if (!Files.exists(TARGET.resolve("node_modules/zod")) || !Files.readString(have).equals(wanted)) {
                    Files.writeString(have, wanted);
                    Files.writeString(TARGET.resolve("package.json"), Files.readString(SOURCE.resolve("package.json")));
                    Process npm = new ProcessBuilder("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
                            .directory(TARGET.toFile()).redirectErrorStream(true)
                            .redirectOutput(TARGET.resolve("npm.log").toFile()).start();
                    Assumptions.assumeTrue(npm.waitFor(5, TimeUnit.MINUTES) && npm.exitValue() == 0,
                            "LEFT OUT: npm could not install the servers, so nothing was tried with them");
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return TARGET;
    }

    private static boolean runs(String... command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
