import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads the events of a run over restarts of its server: java -cp CLASSES:CLIENT Stream STEPS. KEELSON_URL and KEELSON_API_KEY name the
 * server. Prints {@code restart} three times and waits for a line of input each time.
 */
public class Stream {
    private static final int RESTARTS = 3;
    private static final int WIDTH = 100;

    public static void main(String[] arguments) {
        int steps = Integer.parseInt(arguments[0]);
        Keelson client = Keelson.connect();
        Mission mission = Mission.named("stream");
        for (int i = 0; i < steps / WIDTH; i++) {
            mission.task("t" + i, task -> {
                for (int j = 0; j < WIDTH; j++) {
                    task.step("s" + j, "noop", Map.of());
                }
                return task.unchained();
            });
        }
        Run run = client.runs().create(RunRequest.of(mission.toJson()).start());
        AtomicInteger seen = new AtomicInteger();
        Run ended = client.runs().awaitEnd(run.id(), Duration.ofMinutes(10), event -> {
            int number = seen.incrementAndGet();
            if (event.seq() != number) {
                throw new AssertionError("event " + event.seq() + " after " + (number - 1));
            }
            if (number % (steps / 2) == 0 && number / (steps / 2) <= RESTARTS) {
                System.out.println("restart");
                read();
            }
        });
        if (!ended.completed()) {
            throw new AssertionError("the run is " + ended.state());
        }
        System.out.println(seen + " events");
    }

    private static void read() {
        try {
            while (System.in.read() != '\n') {
                // Other characters have no meaning.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
