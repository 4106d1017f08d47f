package io.keelson.process;

import io.keelson.client.Keelson;
import io.keelson.client.worker.Worker;
import java.time.Duration;
import java.util.Map;

/** The program of a worker of one version. */
public final class VersionWorker {
    static final String TOOL = "test.version";

    private VersionWorker() {}

    /** @param arguments the version, and the id of the worker; ends with its standard input */
    public static void main(String[] arguments) throws Exception {
        String version = arguments[0];
        Worker worker = Worker.builder(Keelson.connect()).id(arguments[1]).version(version).slots(4)
                .lease(Duration.ofSeconds(2)).poll(Duration.ofMillis(500))
                .tool(TOOL, step -> Map.of("version", version)).build().start();
        System.out.println("serving " + worker.id());
        while (System.in.read() >= 0) {
            // lines have no meaning
        }
        worker.close();
    }
}
