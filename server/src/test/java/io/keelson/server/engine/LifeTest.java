package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.worker.Completion;
import io.keelson.api.worker.Failure;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.WorkerClaim;
import io.keelson.server.engine.store.read.Detail;
import io.keelson.server.engine.store.read.RunReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Rejected outputs and failed plans. */
class LifeTest {
    @TempDir
    Path folder;
    private Nodes nodes;

    @BeforeEach
    void start() throws Exception {
        nodes = new Nodes(folder);
    }

    @AfterEach
    void stop() throws Exception {
        try {
            nodes.assertSound();
        } finally {
            nodes.close();
        }
    }

    @Test
    void rejectedOutputIsRepeatedWithTheReason() throws Exception {
        UUID run = nodes.submit(nodes.node(), """
                name: judged
                plan:
                  tasks:
                    - id: a
                      retry: {base_delay_seconds: 0}
                      steps: [{name: make, tool: echo, input: {n: "${ .task.attempt }", why: "${ .task.failure.message }"}}]
                      verify: [{kind: jq, expression: ".n >= 2", feedback: too small}]
                output: "${ .tasks.a.output }"
                """);
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("SELECT output FROM orchestration_runs")).isEqualTo("{\"n\": 2, \"why\": \"too small\"}");
        assertThat(nodes.text("""
                SELECT concat_ws(' ', attempt_number, effect_generation, trim_scale(verifier_score), verified_by,
                    output_summary) FROM orchestration_tasks"""))
                .isEqualTo("2 2 1 auto {\"n\":2,\"why\":\"too small\"}");

        assertThat(steps(run, false)).extracting(LifeTest::named).containsExactly("make 2 completed false",
                "verify-1 2 completed false");
        assertThat(steps(run, true)).as("nothing is forgotten").extracting(LifeTest::named).containsExactly(
                "make 1 completed true", "verify-1 1 completed true", "make 2 completed false",
                "verify-1 2 completed false");
    }

    @Test
    void workerGetsThePreviousFailure() throws Exception {
        RemoteDispatch remote = nodes.node().remoteWork();
        UUID run = nodes.submit(nodes.node(), """
                name: judged
                plan:
                  tasks:
                    - id: a
                      retry: {base_delay_seconds: 0}
                      steps: [{tool: far.away, retry: {base_delay_seconds: 0}}]
                      verify: [{kind: regex, pattern: good, feedback: not good}]
                """, "far.away");
        WorkItem first = claim(remote);
        assertThat(first.failureContext().isNull()).isTrue();
        assertThat(first.effectKey()).isEqualTo(run + "/1/a/step-1");
        complete(remote, first, "\"bad\"");

        WorkItem second = claim(remote);
        assertThat(second.attempt()).isEqualTo(1);
        assertThat(second.effectKey()).as("rejected work has a new key").isEqualTo(run + "/1.2/a/step-1");
        assertThat(second.failureContext().get("task_attempt").asInt()).isEqualTo(2);
        assertThat(second.failureContext().get("message").asString()).contains("not good");
        remote.reports().fail(Nodes.WORKSPACE, "worker",
                List.of(new Failure(second.stepId(), 1, 0, null, null, null, null,
                        List.of(), "BUSY", null, "busy", null)));

        WorkItem third = claim(remote);
        assertThat(third.effectKey()).isEqualTo(second.effectKey());
        assertThat(third.failureContext().get("error_code").asString()).isEqualTo("BUSY");
        assertThat(third.failureContext().at("/task_failure/message").asString()).contains("not good");
        complete(remote, third, "\"good\"");
        nodes.awaitState(run, "completed");
    }

    @Test
    void retriedRunChangesTheKeysOfRejectedWorkOnly() throws Exception {
        RemoteDispatch remote = nodes.node().remoteWork();
        UUID run = nodes.submit(nodes.node(), """
                name: judged
                plan:
                  tasks:
                    - id: a
                      retry: {max_attempts: 1}
                      steps: [{tool: far.away}]
                      verify: [{kind: regex, pattern: good}]
                    - id: each
                      depends_on: [a]
                      for_each: "${ [1, 2] }"
                      retry: {max_attempts: 1}
                      steps: [{tool: far.away}]
                      verify: [{kind: regex, pattern: good}]
                """, "far.away");
        WorkItem first = claim(remote);
        complete(remote, first, "\"bad\"");
        retry(run);
        WorkItem second = claim(remote);
        assertThat(List.of(first.effectKey(), second.effectKey())).containsExactly(run + "/1/a/step-1",
                run + "/1.2/a/step-1");
        complete(remote, second, "\"good\"");
        complete(remote, claim(remote), "\"good\"");
        Awaitility.await("the verdict on the first item").until(() -> nodes.count(
                "select count(*) from orchestration_tasks where run_id = '" + run + "' and state = 'completed'") == 2);
        complete(remote, claim(remote), "\"bad\"");
        retry(run);
        WorkItem again = claim(remote);
        assertThat(again.effectKey()).as("the completed item is kept").isEqualTo(run + "/1.2/each[1]/step-1");
        complete(remote, again, "\"good\"");
        nodes.awaitState(run, "completed");
    }

    private void retry(UUID run) throws Exception {
        nodes.awaitState(run, "failed");
        assertThat(nodes.node().submit(new Command.Retry(run, false, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
    }

    @Test
    void aPlannerMakesAnotherPlanOfWhatHasCompleted() throws Exception {
        UUID run = nodes.submit(nodes.node(), """
                name: another way
                goal: g
                config:
                  replan:
                    planner:
                      tool: plan.fallback
                      input:
                        failure: "${ .failure }"
                        rules:
                          - when_failed: bad
                            tasks:
                              - id: better
                                depends_on: [good]
                                steps: [{tool: echo, input: {of: "$${ .tasks.good.output.n }"}}]
                plan:
                  tasks:
                    - {id: good, steps: [{tool: echo, input: {n: 7}}]}
                    - {id: bad, depends_on: [good], steps: [{tool: fail, input: {code: NO, class: permanent}}]}
                    - {id: next, depends_on: [bad], steps: [{tool: noop}]}
                output: "${ .tasks }"
                """);
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("SELECT output FROM orchestration_runs"))
                .isEqualTo("{\"good\": {\"state\": \"completed\", "
                        + "\"output\": {\"n\": 7}}, \"better\": {\"state\": \"completed\", \"output\": {\"of\": 7}}}");
        assertThat(nodes.text("""
                SELECT concat_ws(' ', plan_version, replans, gate, task_count, tasks_completed, tasks_failed,
                    plan -> 'version', jsonb_path_query_array(plan, '$.tasks[*].temp_id')) FROM orchestration_runs"""))
                .isEqualTo("2 1 none 2 2 0 2 [\"good\", \"better\"]");
        assertThat(tasks(run, false)).extracting(t -> t.get("key").asString()).containsExactly("good", ".plan-1",
                "better");
        assertThat(tasks(run, true)).as("nothing is forgotten").extracting(t -> t.get("key").asString() + " "
                + t.get("state").asString() + " " + t.get("superseded").asBoolean()).containsExactly(
                        "good completed false", "bad failed true", "next cancelled true", ".plan-1 completed false",
                        "better completed false");
    }

    @Test
    void invalidPlanIsRefusedWithAllProblems() throws Exception {
        UUID run = nodes.submit(nodes.node(), """
                name: no way
                goal: g
                config:
                  replan:
                    max: 1
                    planner:
                      tool: echo
                      input:
                        tasks:
                          - {id: a, depends_on: [unknown], steps: [{tool: teleport}]}
                plan: {tasks: [{id: bad, steps: [{tool: fail, input: {code: NO, class: permanent}}]}]}
                """);
        nodes.awaitState(run, "failed");
        assertThat(nodes.text("SELECT error_code FROM orchestration_runs")).isEqualTo("NO");
        assertThat(nodes.text("""
                SELECT payload ->> 'error_code' || ' ' || (payload ->> 'error_message') FROM orchestration_events
                 WHERE event_type = 'run_replan_failed'""")).startsWith("REPLAN_INVALID")
                .contains("/plan/tasks/0/depends_on/0", "unknown", "/plan/tasks/0/steps/0/tool", "teleport");
    }

    private List<ObjectNode> steps(UUID run, boolean history) {
        return nodes.database
                .withConnection(c -> new RunReader()
                        .steps(c, Nodes.WORKSPACE, run, Detail.WHOLE, null, history, null, 99).items());
    }

    private List<ObjectNode> tasks(UUID run, boolean history) {
        return nodes.database
                .withConnection(c -> new RunReader()
                        .tasks(c, Nodes.WORKSPACE, run, Detail.WHOLE, null, history, null, 99).items());
    }

    private static String named(JsonNode step) {
        return step.get("name").asString() + " " + step.get("task_attempt").asInt() + " " + step.get("state").asString()
                + " " + step.get("superseded").asBoolean();
    }

    private static WorkItem claim(RemoteDispatch remote) throws InterruptedException {
        List<WorkItem> items = remote.claim(new WorkerClaim(Nodes.WORKSPACE, "worker", List.of("far.away"), 1,
                Duration.ofSeconds(20), Duration.ofSeconds(30), "test"));
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    private static void complete(RemoteDispatch remote, WorkItem item, String output) {
        assertThat(remote
                .complete(Nodes.WORKSPACE, "worker", List.of(new Completion(item.stepId(), item.leaseEpoch(), 0, null,
                        null, null, null, List.of(), Json.read(output), List.of(), List.of(), List.of())), null)
                .getFirst().status())
                .isEqualTo("ok");
    }
}
