package io.keelson.process;

import io.keelson.ChildJvm;
import io.keelson.client.Keelson;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A server in a process of its own, as a user starts it, that tests may kill. */
final class ServerProcess implements AutoCloseable {
    private final Process process;
    private final Path dataDir;

    private ServerProcess(Process process, Path dataDir) {
        this.process = process;
        this.dataDir = dataDir;
    }

    /** Starts a server and returns when it takes runs. */
    static ServerProcess start(Path dataDir, Map<String, String> environment) throws IOException {
        return started(launch(dataDir, environment));
    }

    /** Starts a server by another program, such as nsenter, and returns when the server takes runs. */
    static ServerProcess start(Path dataDir, Map<String, String> environment, List<String> by) throws IOException {
        List<String> command = new ArrayList<>(by);
        command.addAll(ChildJvm.command());
        command.addAll(List.of("io.keelson.cli.Main", "server"));
        return started(launch(dataDir, environment, command));
    }

    /** Starts a server of another build, and returns when it takes runs. */
    static ServerProcess start(Path dataDir, Map<String, String> environment, Path jar) throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        return started(launch(dataDir, environment, List.of(java, "-jar", jar.toString(), "server")));
    }

    private static ServerProcess started(ServerProcess server) throws IOException {
        try {
            server.awaitReady();
            return server;
        } catch (RuntimeException | Error e) {
            server.close();
            throw new IOException("the server did not start:\n" + server.log(), e);
        }
    }

    /** Starts a server and returns at once. */
    static ServerProcess launch(Path dataDir, Map<String, String> environment) throws IOException {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of("io.keelson.cli.Main", "server"));
        return launch(dataDir, environment, command);
    }

    private static ServerProcess launch(Path dataDir, Map<String, String> environment, List<String> command)
            throws IOException {
        Files.createDirectories(dataDir);
        Files.deleteIfExists(dataDir.resolve("url"));
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> env = new HashMap<>(environment);
        env.put("KEELSON_DATA_DIR", dataDir.toString());
        env.putIfAbsent("KEELSON_HTTP_PORT", "0");
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(env);
        builder.redirectErrorStream(true);
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(dataDir.resolve("server.log").toFile()));
        return new ServerProcess(builder.start(), dataDir);
    }

    /** Waits until it takes runs. */
    void awaitReady() {
        Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(50)).until(() -> {
            if (!process.isAlive()) {
                throw new IllegalStateException("it ended with " + process.exitValue() + ":\n" + log());
            }
            return Files.exists(dataDir.resolve("url")) && client().ready();
        });
    }

    /** @throws IOException if it is not ready */
    URI url() throws IOException {
        return URI.create(Files.readString(dataDir.resolve("url")).strip());
    }

    Keelson client() throws IOException {
        return client(url().toString(), Duration.ofSeconds(30));
    }

    /** By another way. */
    Keelson client(String url, Duration timeout) throws IOException {
        return Keelson.builder().url(url).apiKey(Files.readString(dataDir.resolve("api-key")).strip())
                .timeout(timeout).build();
    }

    /** What it has said so far. */
    String log() throws IOException {
        return Files.readString(dataDir.resolve("server.log"));
    }

    /** Waits for it to end by itself. */
    int exitCode() throws InterruptedException {
        return process.waitFor();
    }

    ProcessHandle process() {
        return process.toHandle();
    }

    long pid() {
        return process.pid();
    }

    /** SIGKILL; no further instruction of it is executed. */
    void killNow() {
        process.destroyForcibly().onExit().join();
    }

    /** Sends SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** SIGTERM, and waits for the end. */
    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(40, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException("the server did not stop:\n" + log());
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
