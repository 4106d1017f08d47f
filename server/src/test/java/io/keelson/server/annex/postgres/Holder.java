package io.keelson.server.annex.postgres;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;

/** A {@link HolderMain} in a process of its own; killed, if still there, on closing. */
record Holder(Process process, BufferedReader output) implements AutoCloseable {

    static Holder start(Path dataDirectory, Path binaries) throws IOException {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                HolderMain.class.getName(), dataDirectory.toString(), binaries.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        return new Holder(process, process.inputReader());
    }

    /** What it printed: that it is up, or why not. */
    String firstLine() throws IOException {
        return output.readLine();
    }

    /** Ends it as {@code kill -9} does, after that of everything it started which is a shell. */
    void killWithItsShells() {
        process.descendants().filter(child -> child.info().command().orElse("").matches(".*/(da|ba)?sh"))
                .forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
