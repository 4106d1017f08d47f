package io.keelson.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The worker of examples/release-train in a process of its own. */
final class TrainProcess implements AutoCloseable {
    private static final Path SOURCE = Path.of("../examples/release-train/TrainWorker.java");

    private final Map<String, String> address;
    private final Path log;
    private Process process;

    /** @param address as the environment names a server */
    TrainProcess(Map<String, String> address, Path log) throws IOException {
        this.address = address;
        this.log = log;
        this.process = launch();
    }

    private Process launch() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), SOURCE.toString()));
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(address);
        return builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    /** Sends SIGKILL and starts another process. */
    void killAndRestart() throws IOException {
        process.destroyForcibly().onExit().join();
        process = launch();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
