package io.keelson.process;

import io.keelson.client.Keelson;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ToolSpec;
import io.keelson.client.worker.Worker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** The program of a worker whose tool has no effects. A line of its input says the step at which it halts. */
public final class ChainWorker {
    static final String TOOL = "test.chained";

    private ChainWorker() {}

    /** @param arguments the file to which the effect key of each execution is appended */
    public static void main(String[] arguments) throws IOException {
        Path executed = Path.of(arguments[0]);
        AtomicInteger last = new AtomicInteger(-1);
        Worker worker = Worker.builder(Keelson.connect()).lease(Duration.ofSeconds(5)).poll(Duration.ofMillis(500))
                .chain(Duration.ofMinutes(1)).tool(new ToolSpec(TOOL, null, null, Effects.READ), step -> {
                    Files.writeString(executed, step.effectKey() + "\n", StandardOpenOption.CREATE,
                            StandardOpenOption.APPEND);
                    int number = step.input().path("n").asInt();
                    if (number == last.get()) {
                        Runtime.getRuntime().halt(137);
                    }
                    return number * number;
                }).build().start();
        System.out.println("serving " + worker.id());
        try (BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                last.set(Integer.parseInt(line));
            }
        }
    }
}
