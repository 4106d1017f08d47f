import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Builds a mission in code, submits it, prints its events and its result. The argument is a folder. */
public class SubmitWordCount {

    private static final String TOOL = "text.wordcount";

    public static void main(String[] args) throws InterruptedException {
        Path folder = Path.of(args.length > 0 ? args[0] : ".").toAbsolutePath().normalize();
        Keelson keelson = Keelson.connect();
        awaitTool(keelson);
        Run run = keelson.runs().create(Mission.named("word-count")
                .goal("Count the words below " + folder)
                .declare("path", Map.of("type", "string"))
                .input("path", folder.toString())
                .task("count", t -> t.title("Count words")
                        .step("count", TOOL,
                                Map.of("path", Mission.expr(".inputs.path"), "suffix", ".md", "pause_ms", 0),
                                s -> s.timeout(Duration.ofMinutes(10))))
                .task("report", t -> t.title("Write the report").dependsOn("count")
                        .step("write", "artifact.write", Map.of("name", "words.json",
                                "json", Mission.expr(".tasks.count.output"))))
                .output(Mission.expr(".tasks.count.output"))
                .start());
        Run ended = keelson.runs().awaitEnd(run.id(), Duration.ofMinutes(10), SubmitWordCount::print);
        System.out.println(ended.state() + " " + ended.output());
        System.exit(ended.completed() ? 0 : 1);
    }

    private static void print(Event event) {
        System.out.printf("%4d  %-16s %s%n", event.seq(), event.eventType(), event.payload());
    }

    /** The server refuses a mission while no worker serves its tools; the worker may still be starting. */
    private static void awaitTool(Keelson keelson) throws InterruptedException {
        while (keelson.tools().stream().noneMatch(tool -> tool.name().equals(TOOL))) {
            System.out.println("waiting for a worker that serves " + TOOL);
            Thread.sleep(500);
        }
    }
}
