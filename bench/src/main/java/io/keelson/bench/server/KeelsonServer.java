package io.keelson.bench.server;

import io.keelson.client.Keelson;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A server process with a data folder of its own. It ends with this JVM at the latest. */
public final class KeelsonServer implements AutoCloseable {
    /** Credits of a measurement's workspace: more than the cost of all its runs. */
    public static final BigDecimal CREDITS = new BigDecimal(1_000_000_000);

    private static final Duration START = Duration.ofMinutes(2);
    private static final long STOP_SECONDS = 40;
    private static final double KILOBYTES_OF_A_MEGABYTE = 1_024;

    private final Process process;
    private final Path folder;
    private final Duration startup;

    private KeelsonServer(Process process, Path folder) throws IOException, InterruptedException {
        this.process = process;
        this.folder = folder;
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        long begun = System.nanoTime();
        try {
            Poll.until(START, () -> {
                if (!process.isAlive()) {
                    throw new IllegalStateException("the server ended; see " + log(folder));
                }
                return Files.exists(folder.resolve("url")) && Files.exists(folder.resolve("api-key"))
                        && client().ready();
            });
        } catch (RuntimeException | InterruptedException e) {
            kill();
            throw e;
        }
        startup = Duration.ofNanos(System.nanoTime() - begun);
    }

    /**
     * Starts one and waits until it is ready.
     *
     * @param folder its data folder; made where absent
     * @param databaseUrl null for the embedded PostgreSQL
     * @param jvm options of its JVM, such as its heap
     * @param settings further variables of {@code docs/reference/configuration.md}
     */
    public static KeelsonServer start(Path folder, @Nullable String databaseUrl, List<String> jvm,
            Map<String, String> settings) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        Files.deleteIfExists(folder.resolve("url"));
        ProcessBuilder builder = new ProcessBuilder(Launcher.command(jvm)).redirectErrorStream(true)
                .redirectOutput(Redirect.appendTo(log(folder).toFile()));
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(name -> name.startsWith("KEELSON_") && !name.equals("KEELSON_JAVA_HOME"));
        environment.put("KEELSON_JAVA_OPTS", String.join(" ", jvm));
        environment.put("KEELSON_DATA_DIR", folder.toString());
        environment.put("KEELSON_HTTP_PORT", "0");
        environment.put("KEELSON_INITIAL_CREDITS", CREDITS.toPlainString());
        environment.put("KEELSON_LOG_LEVEL", "warn");
        if (databaseUrl != null) {
            environment.put("KEELSON_DATABASE_URL", databaseUrl);
        }
        environment.putAll(settings);
        return new KeelsonServer(builder.start(), folder);
    }

    private static Path log(Path folder) {
        return folder.resolve("server.log");
    }

    public Keelson client() {
        try {
            return Keelson.builder().url(Files.readString(folder.resolve("url")).strip())
                    .apiKey(Files.readString(folder.resolve("api-key")).strip()).build();
        } catch (IOException e) {
            throw new IllegalStateException("the server has written no address", e);
        }
    }

    /** From the start of the process until it was ready. */
    public Duration startup() {
        return startup;
    }

    /** Resident memory of the server's JVM now; NaN where there is no {@code /proc}. */
    public double residentMegabytes() throws IOException {
        return memory("VmRSS:");
    }

    /** Its maximum so far; NaN where there is no {@code /proc}. */
    public double peakMegabytes() throws IOException {
        return memory("VmHWM:");
    }

    /** Threads of the operating system in the server's JVM now; NaN where there is no {@code /proc}. */
    public double threads() throws IOException {
        return status("Threads:");
    }

    private double memory(String field) throws IOException {
        return status(field) / KILOBYTES_OF_A_MEGABYTE;
    }

    private double status(String field) throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        if (!Files.exists(status)) {
            return Double.NaN;
        }
        return Files.readAllLines(status).stream().filter(line -> line.startsWith(field))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")))
                .findFirst().orElse(Double.NaN);
    }

    /** Sends SIGKILL. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** SIGTERM, and waits for the end. */
    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            kill();
        }
    }
}
