package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.Invariants;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A worker that executes several steps of a task before it reports. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WorkerChainsTest {
    private static final String CHAINS = ", \"chains\": [\"test.chain\"]";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        claim("keeper", 0, "");
    }

    @AfterAll
    void stop() {
        Invariants.hold(api.database());
        api.close();
    }

    private List<JsonNode> claim(String worker, int waitMillis, String members) {
        return list(
                api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"" + worker + "\", \"tools\": [\"test.chain\"],"
                        + " \"wait_ms\": " + waitMillis + members + "}"),
                "items");
    }

    private JsonNode claimOne() {
        return claim("w", 20_000, CHAINS).getFirst();
    }

    private static List<JsonNode> list(ApiServer.Answer answer, String member) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get(member).valueStream().toList();
    }

    private static String step(int number, String input) {
        return "{\"name\": \"s" + number + "\", \"tool\": \"test.chain\", \"input\": {\"n\": " + input + "}}";
    }

    private String create(String policy, String... inputs) {
        return api.create(
                "{\"name\": \"r\", \"start\": true, \"inputs\": {\"i\": {\"default\": 9}}, \"plan\": {\"tasks\":"
                        + " [{\"id\": \"t\", \"title\": \"T\"" + policy + ", \"steps\": ["
                        + IntStream.range(0, inputs.length)
                                .mapToObj(i -> step(i + 1, inputs[i])).collect(Collectors.joining(", "))
                        + "]}]}}");
    }

    private static List<JsonNode> chain(JsonNode item) {
        List<JsonNode> steps = new ArrayList<>(List.of(item));
        item.get("following").forEach(steps::add);
        return steps;
    }

    private static String result(JsonNode step, String members) {
        return "{\"step_id\": " + step.get("step_id") + ", \"lease_epoch\": " + step.get("lease_epoch") + members + "}";
    }

    private List<JsonNode> complete(List<String> items) {
        return list(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": " + items
                + ", \"claim\": {\"tools\": [\"test.chain\"], \"max\": 1" + CHAINS + "}}"), "items");
    }

    private List<JsonNode> complete(List<JsonNode> steps, String members) {
        return complete(steps.stream().map(step -> result(step, members)).toList());
    }

    private static List<String> statuses(List<JsonNode> answers) {
        return answers.stream().map(answer -> answer.get("status").stringValue()).toList();
    }

    private int version(String run) {
        return api.run(run).get("version_id").intValue();
    }

    private List<String> events(String run) {
        return list(api.get("/api/v1/runs/" + run + "/events?limit=200"), "items").stream()
                .map(event -> event.get("seq") + " " + event.get("event_type").stringValue()).toList();
    }

    @Test
    void resultsOfFollowingStepsAreOneCommitWithTheRecordOfSingleOnes() {
        String single = create("", "1", "2", "3", "4");
        for (JsonNode step = claim("w", 20_000, "").getFirst(); step != null;) {
            assertThat(step.get("following")).isEmpty();
            step = list(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": ["
                    + result(step, ", \"output\": 1, \"tokens\": 2") + "], \"next\": {\"tools\": [\"test.chain\"]}}"),
                    "items").getFirst().get("next");
        }
        String run = create("", "1", "2", "3", "4");
        JsonNode first = claimOne();
        assertThat(first.get("following")).extracting(step -> step.get("input").toString())
                .containsExactly("{\"n\":2}", "{\"n\":3}", "{\"n\":4}");
        assertThat(first.get("following").get(0).propertyNames()).isSubsetOf(first.propertyNames());
        int version = version(run);

        List<JsonNode> answers = complete(chain(first), ", \"output\": 1, \"tokens\": 2");

        assertThat(statuses(answers)).containsExactly("ok", "ok", "ok", "ok");
        assertThat(version(run)).isEqualTo(version + 1);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed");
        assertThat(events(run)).isEqualTo(events(single));
        assertThat(api.run(run).get("total_tokens").intValue()).isEqualTo(8);
        JsonNode attempt = list(api.get("/api/v1/steps/" + first.get("following").get(1).get("step_id").stringValue()
                + "/attempts"), "items").getFirst();
        assertThat(attempt.get("worker").stringValue()).isEqualTo("w");
    }

    @Test
    void chainEndsBeforeAnInputThatIsNotKnown() {
        create("", "1", "\"${ .inputs.i }\"", "\"${ .steps.s1.output }\"", "4");
        JsonNode first = claimOne();
        assertThat(first.get("following")).extracting(step -> step.get("input").toString())
                .containsExactly("{\"n\":9}");

        List<JsonNode> answers = complete(chain(first), ", \"output\": 7");

        JsonNode third = answers.getLast().get("next");
        assertThat(answers.getFirst().has("next")).isFalse();
        assertThat(third.get("input").toString()).isEqualTo("{\"n\":7}");
        assertThat(third.get("following")).hasSize(1);
        assertThat(statuses(complete(chain(third), ", \"output\": 1"))).containsExactly("ok", "ok");
    }

    @Test
    void tasksCanForbidChains() {
        create(", \"chain\": false", "1", "2");
        JsonNode first = claimOne();
        assertThat(first.get("following")).isEmpty();
        JsonNode second = complete(chain(first), ", \"output\": 1").getFirst().get("next");
        assertThat(second.get("following")).isEmpty();
        complete(List.of(second), ", \"output\": 1");
    }

    @Test
    void chainsAreServedTools() {
        for (String route : List.of("claim", "complete")) {
            String claim = "\"tools\": [\"test.chain\"], \"max\": 1, \"chains\": [\"test.chain\", \"test.other\"]";
            ApiServer.Answer answer = api.post("/api/v1/dispatch/" + route, "{\"worker_id\": \"w\", "
                    + (route.equals("claim") ? claim
                            : "\"items\": [{\"step_id\": \"00000000-0000-0000-0000-000000000001\", \"lease_epoch\": 1}],"
                                    + " \"claim\": {" + claim + "}")
                    + "}");
            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.json().at("/problems/0/pointer").asString())
                    .isEqualTo(route.equals("claim") ? "/chains/1" : "/claim/chains/1");
        }
    }

    @Test
    void repetitionIsAnsweredResultByResult() {
        create("", "1", "2", "3", "4");
        List<JsonNode> steps = chain(claimOne()).subList(0, 3);
        JsonNode next = complete(steps, ", \"output\": 1").getLast().get("next");

        List<JsonNode> again = complete(steps, ", \"output\": 1");
        List<JsonNode> other = complete(List.of(result(steps.get(0), ", \"output\": 1"),
                result(steps.get(1), ", \"output\": 2"), result(steps.get(2), ", \"output\": 1")));

        assertThat(statuses(again)).containsExactly("duplicate", "duplicate", "duplicate");
        assertThat(again.getLast().get("next").get("step_id")).isEqualTo(next.get("step_id"));
        assertThat(statuses(other)).containsExactly("duplicate", "conflict", "duplicate");
        assertThat(statuses(complete(List.of(next), ", \"output\": 1"))).containsExactly("ok");
    }

    /** The other worker's lease of the second step has the epoch that the first worker expects. */
    @Test
    void resultsOfALostChainDoNotEndStepsOfAnotherWorker() {
        String run = create("", "1", "2", "3");
        List<JsonNode> lost = chain(claimOne());
        list(api.post("/api/v1/dispatch/release", "{\"worker_id\": \"w\", \"items\": ["
                + result(lost.getFirst(), "") + "]}"), "items");
        JsonNode first = claim("x", 20_000, "").getFirst();
        JsonNode second = list(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"x\", \"items\": ["
                + result(first, ", \"output\": 1") + "], \"next\": {\"tools\": [\"test.chain\"]}}"), "items")
                .getFirst().get("next");
        assertThat(second.get("step_id")).isEqualTo(lost.get(1).get("step_id"));

        assertThat(statuses(complete(lost, ", \"output\": 2")))
                .containsExactly("stale_lease", "stale_lease", "stale_lease");

        JsonNode third = list(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"x\", \"items\": ["
                + result(second, ", \"output\": 1") + "], \"next\": {\"tools\": [\"test.chain\"]}}"), "items")
                .getFirst().get("next");
        assertThat(statuses(complete(List.of(third), ", \"output\": 1"))).containsExactly("ok");
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed");
    }

    /** The step whose result cannot be stored is the worker's; those behind it are pending. */
    @Test
    void refusedResultEndsItsChain() {
        String run = create("", "1", "2", "3");
        List<JsonNode> steps = chain(claimOne());
        String artifact = ", \"output\": 1, \"artifacts\": [{\"name\": \"a\", \"content_type\": \"text/plain\","
                + " \"content_base64\": \"%s\"}]";

        List<JsonNode> answers = complete(List.of(result(steps.get(0), ", \"output\": 1"),
                result(steps.get(1), artifact.formatted("?")), result(steps.get(2), ", \"output\": 1")));

        assertThat(statuses(answers)).containsExactly("ok", "rejected", "stale_lease");
        List<JsonNode> rest = complete(List.of(result(steps.get(1), artifact.formatted("aGk=")),
                result(steps.get(2), ", \"output\": 1")));
        assertThat(statuses(rest)).containsExactly("ok", "ok");
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed");
    }

    @Test
    void pauseAndLostLeaseDropUnreportedSteps() {
        String run = create("", "1", "2", "3");
        List<JsonNode> steps = chain(claim("w", 20_000, CHAINS + ", \"lease_ms\": 1000").getFirst());
        api.post("/api/v1/runs/" + run + "/pause", "{}");
        assertThat(statuses(complete(steps, ", \"output\": 1"))).containsExactly("ok", "stale_lease", "stale_lease");
        api.post("/api/v1/runs/" + run + "/resume", "{}");
        List<JsonNode> lost = chain(claim("w", 20_000, CHAINS + ", \"lease_ms\": 1000").getFirst());
        assertThat(lost).hasSize(2);
        List<JsonNode> again = chain(claim("other", 20_000, CHAINS).getFirst());
        assertThat(again).extracting(step -> step.get("lease_epoch").intValue()).containsExactly(2, 1);

        assertThat(statuses(complete(lost, ", \"output\": 1"))).containsOnly("stale_lease");

        List<JsonNode> answers = list(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"other\", \"items\": "
                + again.stream().map(step -> result(step, ", \"output\": 2")).toList() + "}"), "items");
        assertThat(statuses(answers)).containsExactly("ok", "ok");
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed");
    }

    @Test
    void failureComesAfterEarlierResults() {
        String run = create("", "1", "2", "3");
        List<JsonNode> steps = chain(claimOne());
        JsonNode next = complete(steps.subList(0, 1), ", \"output\": 1").getFirst().get("next");
        assertThat(next.get("step_id")).isEqualTo(steps.get(1).get("step_id"));
        List<JsonNode> failed = list(api.post("/api/v1/dispatch/fail", "{\"worker_id\": \"w\", \"items\": ["
                + result(steps.get(1), ", \"error_code\": \"NO\", \"error_class\": \"permanent\"") + "]}"), "items");
        assertThat(statuses(failed)).containsExactly("ok");
        assertThat(statuses(complete(List.of(steps.get(2)), ", \"output\": 1"))).containsExactly("stale_lease");
        api.awaitState(run, "failed");
    }

    /** Results of several chains and single steps in one request, in any order of tasks. */
    @Test
    void chainsOfSeveralTasksAreOneRequest() {
        List<String> runs = IntStream.range(0, 3).mapToObj(i -> create("", "1", "2", "3")).toList();
        List<JsonNode> steps = new ArrayList<>();
        List<JsonNode> firsts = new ArrayList<>();
        while (firsts.size() < 3) {
            firsts.addAll(claim("w", 20_000, CHAINS + ", \"max\": 3"));
        }
        Collections.reverse(firsts);
        firsts.forEach(first -> steps.addAll(chain(first)));

        assertThat(statuses(complete(steps, ", \"output\": 1"))).hasSize(9).containsOnly("ok");

        assertThat(runs).allSatisfy(
                run -> assertThat(api.run(run).get("state").stringValue()).isEqualTo("completed"));
    }
}
