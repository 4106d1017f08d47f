import io.keelson.client.Keelson;
import io.keelson.client.worker.Turn;
import io.keelson.client.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Takes the turns of an agent that looks through a folder: first it lists the Markdown files, then it reads the first lines
 * of a few, then it reports. It decides by plain rules instead of a model; requests and answers are the same.
 *
 * <p>It keeps no state between turns. Stop it after any turn and start it again: it continues.
 */
public class LibrarianWorker {

    private static final int MAX = 3;

    public static void main(String[] args) throws InterruptedException {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%1$tFT%1$tT%1$tz %4$s %5$s%6$s%n");
        Worker.builder(Keelson.connect()).agent(LibrarianWorker::take).build().serve();
    }

    static Turn.Answer take(Turn turn) {
        System.out.println("turn " + turn.number() + " of '" + turn.goal() + "' for " + turn.agent());
        List<Turn.Past> past = turn.transcript();
        String path = turn.inputs().path("path").asString(".");
        return switch (past.size()) {
            case 0 -> Turn.call("files.list", Map.of("path", path, "recursive", true, "glob", "**/*.md"))
                    .note("why", "what is there at all?");
            case 1 -> read(path, past.get(0).results().get(0));
            default -> Turn.done(report(past.get(0).results().get(0), past.get(1).results()));
        };
    }

    private static Turn.Answer read(String path, Turn.Result listed) {
        List<String> files = names(listed);
        if (files.isEmpty()) {
            return Turn.done(Map.of("files", 0, "said", listed.error() == null ? "nothing here" : listed.error()));
        }
        Turn.Answer answer = null;
        for (String file : files.subList(0, Math.min(MAX, files.size()))) {
            Map<String, Object> input = Map.of("path", path + "/" + file);
            answer = answer == null ? Turn.call("files.read", input) : answer.call("files.read", input);
        }
        return answer;
    }

    private static Map<String, Object> report(Turn.Result listed, List<Turn.Result> read) {
        List<String> titles = new ArrayList<>();
        for (Turn.Result each : read) {
            titles.add(each.output() == null ? "could not be read: " + each.error().path("message").asString("")
                    : each.output().path("content").asString("").lines().findFirst().orElse(""));
        }
        return Map.of("files", names(listed).size(), "titles", titles);
    }

    private static List<String> names(Turn.Result listed) {
        List<String> names = new ArrayList<>();
        if (listed.output() != null) {
            for (JsonNode file : listed.output().path("entries")) {
                names.add(file.path("path").asString(""));
            }
        }
        return names;
    }
}
