package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Runs that steps start, three levels deep: what is yielded, and how cancel, pause, failures and budgets cross levels. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChildRunApiTest {

    private static final String RUNS = "/api/v1/runs";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        Invariants.hold(api.database());
        api.close();
    }

    /** A plan of one task with that step. */
    private static String plan(String step) {
        return "{\"tasks\": [{\"id\": \"a\", \"steps\": [" + step + "]}]}";
    }

    /** A step that starts a run of that step. */
    private static String starts(String step, String more) {
        return "{\"name\": \"child\", \"tool\": \"run.start\", \"input\": {\"plan\": " + plan(step)
                + ", \"config\": {\"autonomy\": {\"level\": \"full_auto\"}}, \"output\": \"${ .tasks.a.output }\""
                + more
                + "}}";
    }

    /** A run that starts one that starts one of that step. */
    private String three(String step, String config) {
        return api.create("{\"name\": \"top\", \"start\": true, \"plan\": " + plan(starts(starts(step, ""), ""))
                + ", \"output\": \"${ .tasks.a.output }\"" + config + "}");
    }

    private JsonNode childOf(String run) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> children(run).size() == 1);
        return children(run).getFirst();
    }

    private List<JsonNode> children(String run) {
        return api.get(RUNS + "?parent_run_id=" + run).json().get("items").valueStream().toList();
    }

    private static String id(JsonNode run) {
        return run.get("id").stringValue();
    }

    @Test
    void deepestRunsOutputReachesAllParents() {
        String top = api.create("""
                {"name": "top", "start": true, "inputs": {"who": {"default": "Ann"}}, "plan": %s,
                 "output": "${ .tasks.a.output }"}""".formatted(plan(starts(
                """
                {"name": "say", "tool": "echo", "input": {"text": "hello ${ .inputs.name }"}}""",
                ", \"inputs\": {\"name\": \"${ .inputs.who }\"}"))));
        assertThat(api.awaitState(top, "completed").at("/output/text").stringValue()).isEqualTo("hello Ann");
        JsonNode child = childOf(top);
        assertThat(child.get("parent_run_id").stringValue()).isEqualTo(top);
        assertThat(child.get("state").stringValue()).isEqualTo("completed");
        assertThat(api.run(top).get("child_count").intValue()).isEqualTo(1);

        String deep = three("{\"name\": \"say\", \"tool\": \"echo\", \"input\": {\"n\": 3}}", "");
        assertThat(api.awaitState(deep, "completed").at("/output/n").intValue()).isEqualTo(3);
    }

    @Test
    void cancelPauseAndResumeReachTheDeepest() {
        String top = three("{\"name\": \"s\", \"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"}}", "");
        String middle = id(childOf(top));
        String deepest = id(childOf(middle));
        api.awaitStep(deepest, "waiting");
        api.post(RUNS + "/" + top + "/pause", "{}");
        api.awaitState(deepest, "paused");
        api.post(RUNS + "/" + top + "/resume", "{}");
        api.awaitState(deepest, "running");
        assertThat(api.run(middle).get("state").stringValue()).isEqualTo("running");
        api.post(RUNS + "/" + top + "/cancel", "{}");
        api.awaitState(deepest, "cancelled");
        api.awaitState(middle, "cancelled");
    }

    @Test
    void childPausedOnItsOwnStaysPaused() {
        String top = three("{\"name\": \"s\", \"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"}}", "");
        String middle = id(childOf(top));
        String deepest = id(childOf(middle));
        api.awaitStep(deepest, "waiting");
        api.post(RUNS + "/" + deepest + "/pause", "{}");
        api.post(RUNS + "/" + top + "/pause", "{}");
        api.awaitState(middle, "paused");
        api.post(RUNS + "/" + top + "/resume", "{}");
        api.awaitState(middle, "running");
        assertThat(api.run(deepest).get("state").stringValue()).isEqualTo("paused");
        api.post(RUNS + "/" + deepest + "/resume", "{}");
        api.post(RUNS + "/" + deepest + "/signals/go", "{\"payload\": 7}");
        assertThat(api.awaitState(top, "completed").get("output").intValue()).isEqualTo(7);
    }

    @Test
    void childFailurePropagatesAndTheRetryStartsAnotherChild() {
        String step =
                "{\"name\": \"f\", \"tool\": \"fail\", \"input\": {\"code\": \"BROKEN\", \"class\": \"permanent\"}}";
        String top = three(step, "");
        JsonNode failed = api.awaitState(top, "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo("CHILD_RUN_FAILED");
        assertThat(failed.get("error_message").stringValue()).contains("CHILD_RUN_FAILED");
        assertThat(childOf(id(childOf(top))).get("error_code").stringValue()).isEqualTo("BROKEN");
        assertThat(api.post(RUNS + "/" + id(childOf(top)) + "/retry", "{}").json().get("code").stringValue())
                .isEqualTo("RETRY_PARENT_INSTEAD");

        String again = api.create("{\"name\": \"again\", \"start\": true, \"plan\": {\"tasks\": [{\"id\": \"a\","
                + "\"failure_mode\": \"retry\", \"retry\": {\"max_attempts\": 2, \"base_delay_seconds\": 0.05},"
                + "\"steps\": [" + starts(step, "") + "]}]}}");
        api.awaitState(again, "failed");
        assertThat(children(again)).hasSize(2);
    }

    @Test
    void aLimitHoldsForAllLevelsTogether() {
        String costs = "{\"name\": \"c\", \"tool\": \"noop\", \"input\": {\"cost\": 0.4}}";
        String top = api.create("{\"name\": \"top\", \"start\": true, \"plan\": " + plan(costs + ", "
                + starts(costs + ", " + costs.replace("\"c\"", "\"d\""), "")
                + ", " + costs.replace("\"c\"", "\"e\""))
                + ", \"config\": {\"autonomy\": {\"level\": \"full_auto\"}, \"budget\": {\"hard_limit_usd\": 1}}}");
        JsonNode child = childOf(top);
        JsonNode stopped = api.awaitState(id(child), "budget_exceeded");
        assertThat(stopped.get("credits_charged").decimalValue()).isEqualByComparingTo("0.6");
        assertThat(api.run(top).get("credits_charged").decimalValue()).isEqualByComparingTo("0.4");
        assertThat(api.post(RUNS + "/" + id(child) + "/budget", "{\"hard_limit_usd\": 5}").json().get("code")
                .stringValue()).isEqualTo("PARENT_BUDGET_EXCEEDED");
        api.post(RUNS + "/" + top + "/cancel", "{}");
        api.awaitState(id(child), "cancelled");
    }

    /** The first child fails while one of its own may still cost all that there is; the second has what that one leaves. */
    @Test
    void anotherAttemptHasWhatTheCancelledOnesLeave() {
        String wait = "{\"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"%s}}";
        String child = "{\"name\": \"child\", \"tool\": \"run.start\", \"input\": {\"plan\": {\"tasks\": ["
                + "{\"id\": \"g\", \"steps\": [" + starts(wait.formatted(""), "") + "]}, {\"id\": \"f\", \"steps\": ["
                + wait.formatted("") + ", " + wait.formatted(", \"timeout_seconds\": 0.01")
                + "]}]}, \"config\": {\"autonomy\": {\"level\": \"full_auto\"}}}}";
        String top = api.create("{\"name\": \"top\", \"start\": true, \"plan\": {\"tasks\": [{\"id\": \"a\","
                + "\"failure_mode\": \"retry\", \"retry\": {\"max_attempts\": 2, \"base_delay_seconds\": 0},"
                + "\"steps\": [" + child + "]}]}, \"config\": {\"autonomy\": {\"level\": \"full_auto\"},"
                + " \"budget\": {\"hard_limit_usd\": 10}}}");
        String first = id(childOf(top));
        childOf(first);
        api.post(RUNS + "/" + first + "/signals/go", "{}");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> children(top).size() == 2);
        assertThat(api.run(top).get("state").stringValue()).isEqualTo("running");
        api.post(RUNS + "/" + top + "/cancel", "{}");
        api.awaitState(top, "cancelled");
    }

    /** By the route, and as an answer to what the inbox asks. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void childsBudgetGrowsWithItsParents(boolean inbox) {
        String costs = "{\"name\": \"c\", \"tool\": \"noop\", \"input\": {\"cost\": 0.4}}";
        String top = api.create("{\"name\": \"top\", \"start\": true, \"plan\": "
                + plan(starts(costs + ", " + costs.replace("\"c\"", "\"d\"") + ", " + costs.replace("\"c\"", "\"e\""),
                        ""))
                + ", \"config\": {\"autonomy\": {\"level\": \"full_auto\"}, \"budget\": {\"hard_limit_usd\": 0.5}}}");
        String child = id(childOf(top));
        api.awaitState(child, "budget_exceeded");
        assertThat(allow(child, inbox, "1.5").json().get("code").stringValue()).isEqualTo("PARENT_BUDGET_EXCEEDED");
        assertThat(allow(top, false, "2").status()).isEqualTo(200);
        assertThat(allow(child, inbox, "1.5").status()).isEqualTo(200);
        api.awaitState(top, "completed");
        assertThat(api.run(child).get("hard_limit_usd").decimalValue()).isEqualByComparingTo("1.5");
        assertThat(api.get(RUNS + "/" + top + "/events?limit=500").text()).contains("child_run_allotted", "1.500000");
    }

    private ApiServer.Answer allow(String run, boolean inbox, String limit) {
        String path = inbox ? "/api/v1/inbox/" + api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0/id")
                .stringValue() + "/accept" : RUNS + "/" + run + "/budget";
        return api.post(path, "{\"hard_limit_usd\": " + limit + "}", "Idempotency-Key", UUID.randomUUID().toString());
    }

    @Test
    void aLimitThatWouldNotBindWhatIsAtWorkIsRefused() {
        String top = three("{\"name\": \"s\", \"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"}}", "");
        childOf(top);
        assertThat(allow(top, false, "5").json().get("code").stringValue()).isEqualTo("CHILD_BUDGETS_REQUIRED");
        api.post(RUNS + "/" + top + "/cancel", "{}");
    }

    @Test
    void restartedServerContinues(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        String top;
        String middle;
        String deepest;
        ApiServer first = api;
        try (ApiServer before = new ApiServer(folder.resolve("one"), url)) {
            api = before;
            top = three("{\"name\": \"s\", \"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"}}", "");
            middle = id(childOf(top));
            deepest = id(childOf(middle));
            api.awaitStep(deepest, "waiting");
            api.post(RUNS + "/" + top + "/pause", "{}");
            api.awaitState(deepest, "paused");
        }
        try (ApiServer after = new ApiServer(folder.resolve("two"), url);
                ApiServer beside = new ApiServer(folder.resolve("three"), url)) {
            api = after;
            beside.post(RUNS + "/" + top + "/resume", "{}", "Authorization", "Bearer " + after.key());
            api.awaitState(deepest, "running");
            beside.post(RUNS + "/" + deepest + "/signals/go", "{\"payload\": 1}", "Authorization",
                    "Bearer " + after.key());
            assertThat(api.awaitState(top, "completed").get("output").intValue()).isEqualTo(1);
            Invariants.hold(api.database());
        } finally {
            api = first;
        }
    }

    /** The server crashed after the commit, before the evaluation. The timer in the database is due in seconds. */
    @Test
    void lostChildNotificationIsFoundByPolling() {
        String top = api.create("{\"name\": \"top\", \"start\": true, \"plan\": "
                + plan(starts("{\"name\": \"s\", \"tool\": \"signal.wait\", \"input\": {\"name\": \"go\"}}", ""))
                + "}");
        String child = id(childOf(top));
        api.awaitStep(child, "waiting");
        api.sql("insert into timers (kind, subject, run_id, due_at) select 'evaluate_parent', gen_random_uuid(), '"
                + child + "', now()");
        api.sql("insert into timers (kind, subject, run_id, due_at) select 'evaluate_child', parent_step_id, '" + top
                + "', now() from run_parents where run_id = '" + child + "'");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> timers(child) == 0 && timers(top) == 0);
        assertThat(api.run(child).get("state").stringValue()).isEqualTo("running");
        api.post(RUNS + "/" + child + "/signals/go", "{\"payload\": 1}");
        api.awaitState(top, "completed");
    }

    private long timers(String run) {
        return api.database().withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery(
                    "select count(*) from timers where kind like 'evaluate%' and run_id = '" + run + "'")) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    @Test
    void aRecipeIsStartedWithItsParameters() {
        JsonNode recipe = api.post("/api/v1/recipes", """
                {"name": "chapter", "goal": "Write", "inputs": {"topic": {"type": "string"}, "n": {"default": 2}},
                 "config": {"autonomy": {"level": "full_auto"}}, "output": "${ .tasks.a.output }", "plan": %s}"""
                .formatted(plan("{\"tool\": \"echo\", \"input\": {\"text\": \"${ .inputs.topic } ${ .inputs.n }\"}}")))
                .json();
        String top = api.create("""
                {"name": "top", "start": true, "inputs": {"which": {"default": "chapter"}}, "output": "${ .tasks.a.output }",
                 "plan": %s}""".formatted(plan("""
                {"tool": "run.start", "input": {"recipe": "${ .inputs.which }", "name": "first",
                  "inputs": {"topic": "storms"}, "config": {"max_attempts": 1}}}""")));
        assertThat(api.awaitState(top, "completed").at("/output/text").stringValue()).isEqualTo("storms 2");
        JsonNode child = childOf(top);
        assertThat(child.get("recipe_id")).isEqualTo(recipe.get("id"));
        assertThat(child.get("recipe_version").intValue()).isOne();
        assertThat(child.get("name").stringValue()).isEqualTo("first");
        assertThat(child.get("goal").stringValue()).isEqualTo("Write");
        assertThat(child.get("max_attempts").intValue()).isOne();
        assertThat(child.at("/config/autonomy/level").stringValue()).isEqualTo("full_auto");
    }

    @Test
    void invalidRecipeRunFailsTheStepWithThePosition() {
        api.post("/api/v1/recipes", "{\"name\": \"strict\", \"inputs\": {\"n\": {\"type\": \"integer\"}}, \"plan\": "
                + plan("{\"tool\": \"echo\", \"input\": {}}") + "}");
        assertThat(brokenBy("{\"recipe\": \"strict\", \"inputs\": {\"n\": \"many\"}}")).contains("/inputs/n");
        assertThat(brokenBy("{\"recipe\": \"strict\", \"inputs\": {\"n\": 1}, \"output\": 1}")).contains("/output");
        assertThat(brokenBy("{\"recipe\": \"none\"}")).contains("/recipe").contains("UNKNOWN_REFERENCE");
        assertThat(api.post(RUNS, "{\"name\": \"top\", \"plan\": "
                + plan("{\"tool\": \"run.start\", \"input\": {\"inputs\": {}}}") + "}").status()).isEqualTo(422);
    }

    private String brokenBy(String input) {
        String top = api.create("{\"name\": \"top\", \"start\": true, \"plan\": "
                + plan("{\"tool\": \"run.start\", \"input\": " + input + "}") + "}");
        JsonNode failed = api.awaitState(top, "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo("CHILD_RUN_INVALID");
        return failed.get("error_message").stringValue();
    }

    @Test
    void invalidMissionFailsTheStepWithEveryProblem() {
        String top = api.create("{\"name\": \"top\", \"start\": true, \"plan\": "
                + plan(starts("{\"name\": \"s\", \"tool\": \"no.such\", \"input\": {}}", "")) + "}");
        JsonNode failed = api.awaitState(top, "failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo("CHILD_RUN_INVALID");
        assertThat(failed.get("error_message").stringValue()).contains("/plan/tasks/0/steps/0/tool");
    }
}
