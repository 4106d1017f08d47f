import io.keelson.client.Keelson;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.Turn;
import io.keelson.client.worker.Worker;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * Plans a release, and takes the turns of the agent that writes its notes. It decides by plain rules instead of a model;
 * requests and answers are the same. The first plan names an unknown tool: the server reports it, and the next plan is valid.
 * The first notes have no summary: the verifier rejects them, and the next attempt has one.
 */
public class TrainWorker {

    public static void main(String[] args) throws InterruptedException {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%1$tFT%1$tT%1$tz %4$s %5$s%6$s%n");
        serving(Keelson.connect()).build().serve();
    }

    static Worker.Builder serving(Keelson keelson) {
        return Worker.builder(keelson).tool("plan", TrainWorker::plan).agent(TrainWorker::write);
    }

    private static Object plan(StepContext step) {
        boolean refused = step.input().at("/failure/refused/message").isString();
        System.out.println(refused ? "planner: fixes its plan: " + step.input().at("/failure/refused/message").asString()
                : "planner: makes a plan for '" + step.input().path("goal").asString() + "'");
        step.usage(200, new BigDecimal("0.02"));
        return Map.of("reasoning", "Notes first, for what is bought is what they say.", "tasks", List.of(
                Map.of("id", "notes", "title", "Write the notes", "task_type", "writing", "estimated_cost", 0.4,
                        "tools_needed", List.of("echo"), "inputs", Map.of("changes", "${ .inputs.changes }"),
                        "verify", List.of(Map.of("kind", "required_sections", "sections", List.of("Summary"), "output",
                                "${ .task.output.text }"))),
                Map.of("id", "departure", "title", "Let it depart", "depends_on", List.of("notes"),
                        "estimated_cost", 0.6, "steps", List.of(
                                Map.of("name", "signal-man", "kind", "approval", "input",
                                        Map.of("question", "May release ${ .inputs.version } depart?")),
                                Map.of("name", "order", "tool", refused ? "order.place" : "order.plaice", "input",
                                        Map.of("symbol", "TRAIN-1", "side", "buy", "type", "limit", "quantity", "1",
                                                "limit_price", "3"))))));
    }

    private static Turn.Answer write(Turn turn) {
        turn.step().usage(50, new BigDecimal("0.01"));
        if (turn.transcript().isEmpty()) {
            System.out.println("agent: looks at the changes");
            return Turn.call("echo", Map.of("changes", turn.inputs().path("changes")));
        }
        boolean rejected = turn.feedback().isObject();
        System.out.println(rejected ? "agent: writes again: " + turn.feedback().path("message").asString()
                : "agent: writes the notes");
        StringBuilder text = new StringBuilder("# Release\n");
        turn.transcript().get(0).results().get(0).output().path("changes")
                .forEach(change -> text.append("- ").append(change.asString()).append('\n'));
        return Turn.done(Map.of("text", rejected ? text + "\n## Summary\nAll aboard.\n" : text.toString()));
    }
}
