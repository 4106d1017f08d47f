package io.keelson.process;

import io.keelson.client.Keelson;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * All that the API returns about a run and its results, without times and executors. Two runs of one mission must have the
 * same story, regardless of faults.
 */
final class Story {
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Pattern TIME = Pattern.compile("(_at|_ms|_seconds)$");
    /**
     * What is numbered for all runs together, what rises whenever something is taken up or has changed, and outputs as text,
     * whose members come in the order that the worker's process has given them.
     */
    private static final Set<String> OF_NO_ACCOUNT = Set.of("lease_epoch", "version_id", "id", "board_task_id",
            "parent_task_id", "output_summary");
    /** The key under which more is reserved ends with an event's number. */
    private static final Pattern EXTENSION = Pattern.compile("/extend/[0-9]+");
    /** A heartbeat that brings a worker's use before its report is charged under a key with the lease epoch and an event's number. */
    private static final Pattern METERED = Pattern.compile("/used/[0-9]+/[0-9]+");

    private Story() {}

    /** One line for each thing, which begins with where it was found; sorted, for what came in one commit has no order. */
    static List<String> of(Keelson keelson, String run) {
        List<String> story = new ArrayList<>();
        story.add("run " + without(keelson.api().get("/runs/" + run)));
        for (String part : List.of("agents", "tasks", "steps", "attempts", "plans", "artifacts", "ledger")) {
            items(story, part, keelson.api().get("/runs/" + run + "/" + part));
        }
        items(story, "report", keelson.api().get("/reports?run_id=" + run));
        items(story, "board", keelson.api().get("/board/tasks?run_id=" + run));
        keelson.api().get("/board/tasks?source_type=orchestration").path("items").valueStream()
                .filter(item -> item.path("source_id").asString("").equals(run))
                .forEach(item -> story.add("board " + without(item)));
        return story;
    }

    private static void items(List<String> story, String part, JsonNode page) {
        page.path("items").valueStream().map(item -> part + " " + without(item)).sorted().forEach(story::add);
    }

    private static String without(JsonNode document) {
        JsonNode copy = document.deepCopy();
        strip(copy);
        String extended = EXTENSION.matcher(ID.matcher(copy.toString()).replaceAll("ID")).replaceAll("/extend/N");
        return METERED.matcher(extended).replaceAll("");
    }

    private static void strip(JsonNode node) {
        if (node instanceof ObjectNode object) {
            List.copyOf(object.propertyNames()).stream()
                    .filter(name -> TIME.matcher(name).find() || OF_NO_ACCOUNT.contains(name)).forEach(object::remove);
            object.forEach(Story::strip);
        } else if (node instanceof ArrayNode array) {
            array.forEach(Story::strip);
        }
    }
}
