package io.keelson.client.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.ObjectMapper;

class MissionTest {

    @Test
    void makesTheShapeOfAMissionFile() {
        Mission mission = Mission.named("repository-report").goal("Describe a folder")
                .declare("path", Map.of("type", "string", "default", "."))
                .input("path", "/src")
                .config("autonomy", Map.of("level", "full_auto"))
                .task("inventory", t -> t.title("Take inventory").type("analysis")
                        .step("list", "files.list", Map.of("path", Mission.expr(".inputs.path"))))
                .task("report", t -> t.dependsOn("inventory").after("warm-up").triggerRule(TriggerRule.ALL_DONE)
                        .when("${ .inputs.path != \"\" }")
                        .approval("sign-off", "Publish?")
                        .step("write", "artifact.write", Map.of("name", "report.md"),
                                s -> s.maxAttempts(5).backoff(Duration.ofMillis(250), Duration.ofSeconds(10))
                                        .timeout(Duration.ofSeconds(30)))
                        .output(Map.of("ok", true)))
                .output("${ .tasks.report.output }");

        assertThat(json(mission.toString())).isEqualTo(json("""
                {"name":"repository-report","goal":"Describe a folder",
                 "inputs":{"path":{"type":"string","default":"."}},
                 "input":{"path":"/src"},
                 "config":{"autonomy":{"level":"full_auto"}},
                 "plan":{"tasks":[
                   {"id":"inventory","title":"Take inventory","task_type":"analysis","steps":[
                     {"name":"list","tool":"files.list","input":{"path":"${ .inputs.path }"}}]},
                   {"id":"report","depends_on":["inventory",{"task":"warm-up","type":"ordering"}],
                    "trigger_rule":"all_done","when":"${ .inputs.path != \\"\\" }",
                    "steps":[
                     {"name":"sign-off","kind":"approval","input":{"question":"Publish?"}},
                     {"name":"write","tool":"artifact.write","input":{"name":"report.md"},
                      "retry":{"max_attempts":5,"base_delay_seconds":0.25,"max_delay_seconds":10},
                      "timeout_seconds":30}],
                    "output":{"ok":true}}]},
                 "output":"${ .tasks.report.output }"}"""));
    }

    @Test
    void carriesHowTheRunIsSubmitted() {
        Mission mission =
                Mission.named("n").start().priority(5).externalId("x-1", ExternalIdPolicy.AFTER_END).tags("a", "b");

        assertThat(json(mission.toString())).isEqualTo(
                json("""
                {"name":"n","start":true,"priority":5,"external_id_policy":"after_end","external_id":"x-1","tags":["a","b"]}"""));
    }

    @Test
    void fansOutOverAnExpressionWithParallelStepsAndOtherMembers() {
        Mission mission = Mission.named("n").task("each", t -> t.forEach("${ .inputs.files }").parallel()
                .with("failure_mode", "continue")
                .step("read", "files.read", new ReadFile("a.txt", 10), s -> s.with("verify", List.of())));

        assertThat(json(mission.toString())).isEqualTo(json("""
                {"name":"n","plan":{"tasks":[{"id":"each","for_each":"${ .inputs.files }","parallelism":"parallel",
                 "failure_mode":"continue","steps":[
                   {"name":"read","tool":"files.read","input":{"path":"a.txt","maxBytes":10},"verify":[]}]}]}}"""));
    }

    @Test
    void switchHasBranchesAndGroupsHaveTasks() {
        Mission mission = Mission.named("n").task("route", t -> t
                .branch("bug", ".inputs.bug", TaskBuilder.task("repair").group(TaskBuilder.task("find"),
                        TaskBuilder.task("fix").dependsOn("find")))
                .branch("none", "false").otherwise(TaskBuilder.task("file")));

        assertThat(json(mission.toString())).isEqualTo(json("""
                {"name":"n","plan":{"tasks":[{"id":"route","switch":[
                  {"name":"bug","when":".inputs.bug","tasks":[{"id":"repair","group":[{"id":"find"},
                    {"id":"fix","depends_on":["find"]}]}]},
                  {"name":"none","when":"false","tasks":[]}, {"else":[{"id":"file"}]}]}]}}"""));
    }

    @Test
    void undoIsOneCallOrAListOfSeveral() {
        Mission mission = Mission.named("n")
                .task("a", t -> t.step("s", "noop", 1).undo("one", 1).undo("two", 2).undo("three", 3))
                .task("b", t -> t.step("s", "noop", 1, s -> s.undo("one", 1)));

        assertThat(json(mission.toString())).isEqualTo(json("""
                {"name":"n","plan":{"tasks":[
                  {"id":"a","steps":[{"name":"s","tool":"noop","input":1}],"undo":[{"tool":"one","input":1},
                    {"tool":"two","input":2},{"tool":"three","input":3}]},
                  {"id":"b","steps":[{"name":"s","tool":"noop","input":1,"undo":{"tool":"one","input":1}}]}]}}"""));
    }

    @Test
    void cacheIsOfAStepOrOfATaskOfAnAgent() {
        Mission mission = Mission.named("n").task("a", t -> t.cache(".inputs.q", Duration.ofDays(7)))
                .task("b", t -> t.step("s", "noop", 1, s -> s.cache(".inputs.q", Duration.ofMinutes(1))));

        assertThat(json(mission.toString())).isEqualTo(json("""
                {"name":"n","plan":{"tasks":[{"id":"a","cache":{"key":".inputs.q","max_age":"604800s"}},
                  {"id":"b","steps":[{"name":"s","tool":"noop","input":1,
                   "cache":{"key":".inputs.q","max_age":"60s"}}]}]}}"""));
    }

    @Test
    void copiedMissionDoesNotChange() {
        Mission mission = Mission.named("n");
        Object before = mission.toJson();

        mission.goal("later");

        assertThat(before).isEqualTo(json("{\"name\":\"n\"}"));
    }

    /** A value of the caller's own: its property names are the caller's. */
    private record ReadFile(String path, int maxBytes) {}

    /** Read as the server will read it, so that numbers compare by what they look like. */
    private static Object json(String text) {
        return new ObjectMapper().readTree(text);
    }
}
