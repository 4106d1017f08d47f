package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.outlet.BoardTask;
import io.keelson.api.outlet.Report;
import io.keelson.client.Board;
import io.keelson.client.BoardQuery;
import io.keelson.client.BoardTaskRequest;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.ReportQuery;
import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.server.Invariants;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The board and the reports over HTTP, by way of the client where it has a word for it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BoardApiTest {
    private static final String API = "/api/v1";

    /** One task of each kind ends well, one fails with what could pass for Markdown, one is never needed. */
    private static final String MIXED = """
            {"name": "Mixed bag", "goal": "Find out\\n# not a heading", "start": true, "tags": ["x"], "plan": {"tasks": [
              {"id": "find", "title": "Find", "task_type": "research", "description": "Look\\n```\\naround",
               "steps": [{"name": "look", "tool": "echo", "input": {"text": "line one\\n## line two"}}]},
              {"id": "write", "title": "Write", "task_type": "writing", "depends_on": ["find"],
               "steps": [{"name": "put", "tool": "echo", "input": {"n": 1}}]},
              {"id": "sum", "title": "Sum", "task_type": "synthesis", "depends_on": ["find"],
               "steps": [{"name": "add", "tool": "echo", "input": {"all": true}}]},
              {"id": "breaks", "title": "Breaks", "task_type": "review", "depends_on": ["write", "sum"],
               "steps": [{"name": "try", "tool": "fail", "input": {"times": 9}, "retry": {"max_attempts": 1}}]},
              {"id": "after", "title": "After", "depends_on": ["breaks"],
               "steps": [{"name": "never", "tool": "echo", "input": {}}]}]}}""";

    private ApiServer api;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        keelson = Keelson.builder().url(api.url().toString()).apiKey(api.key()).build();
    }

    @AfterAll
    void stop() {
        Invariants.hold(api.database(), "I10");
        api.close();
    }

    @Test
    void boardShowsARunWithItsTasksBelow() {
        String run = api.create(ApiServer.WAITS);
        BoardTask mission = mission(run);
        assertThat(mission.title()).isEqualTo("Mission: waits");
        assertThat(mission.status()).isEqualTo("inbox");
        assertThat(mission.tags()).containsExactly("mission", "created");
        assertThat(api.post(API + "/runs/" + run + "/start", "{}").status()).isLessThan(300);
        api.awaitStep(run, "waiting_approval");
        assertThat(mission(run).status()).isEqualTo("in_progress");
        String state = api.get(API + "/runs/" + run + "/tasks").json().at("/items/0/state").stringValue();
        assertThat(tasks(run)).singleElement().satisfies(task -> {
            assertThat(task.status()).isEqualTo(BoardStatus.of(TaskState.of(state)).wire());
            assertThat(task.startedAt()).isNotNull();
            assertThat(task.parentTaskId()).isEqualTo(mission.id());
            assertThat(task.tags()).containsExactly("mission_task", "other");
        });

        assertThat(api.post(API + "/runs/" + run + "/cancel", "{}").status()).isLessThan(300);
        assertThat(mission(run)).satisfies(ended -> {
            assertThat(ended.status()).isEqualTo("done");
            assertThat(ended.tags()).containsExactly("mission", "cancelled");
            assertThat(ended.completedAt()).isNotNull();
            assertThat(ended.children()).isEqualTo(1);
        });
        assertThat(tasks(run).getFirst().status()).isEqualTo("done");
    }

    @Test
    void runShowsGoalPriorityAndPlanAndASkippedTaskItsCause() {
        String goal = "g".repeat(5_000);
        String run = api.create("""
                {"name": "planned", "start": true, "goal": "%s",
                 "config": {"priority": "urgent", "budget": {"hard_limit_usd": 5}},
                 "plan": {"strategy": "mixed", "tasks": [
                  {"id": "a", "title": "A", "task_type": "research", "steps": [{"name": "one", "tool": "noop"}]},
                  {"id": "b", "title": "B", "depends_on": ["a"], "when": "${ false }",
                   "steps": [{"name": "one", "tool": "noop"}]},
                  {"id": "c", "title": "C", "depends_on": ["b"], "steps": [{"name": "one", "tool": "noop"}]}]}}"""
                .formatted(goal));
        api.awaitState(run, "completed");

        JsonNode mission = api.get(API + "/board/tasks/" + mission(run).id()).json();
        assertThat(mission.get("description").stringValue()).isEqualTo(goal);
        assertThat(mission(run).description()).hasSize(4_000);
        assertThat(mission.get("priority").stringValue()).isEqualTo("urgent");
        JsonNode planning = mission.get("planning_data");
        assertThat(planning.get("strategy").stringValue()).isEqualTo("mixed");
        assertThat(planning.at("/task_progress/completed").intValue()).isEqualTo(1);
        assertThat(planning.at("/task_progress/total").intValue()).isEqualTo(3);
        assertThat(planning.at("/budget/limit").decimalValue()).isEqualByComparingTo("5");
        assertThat(named(run, "B").result()).isEqualTo("skipped: its condition is not met");
        assertThat(named(run, "C").result())
                .isEqualTo("skipped: dependency failed (all_success does not hold: 'b' skipped)");
        JsonNode task = api.get(API + "/board/tasks/" + named(run, "C").id()).json().get("planning_data");
        assertThat(task.get("dependencies").toString()).isEqualTo("[\"depends on: b\"]");
        assertThat(task.get("trigger_rule").stringValue()).isEqualTo("all_success");
        assertThat(task.get("sequence").intValue()).isEqualTo(3);
    }

    @Test
    void cardOfARunHasItsCurrentTaskAndProgressAtEachBeginAndEndOfATask() {
        String run = api.create("""
                {"name": "steady", "start": true, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "one", "kind": "approval", "input": {"question": "First?"}}]},
                  {"id": "b", "steps": [{"name": "one", "kind": "approval", "input": {"question": "Other?"}}]},
                  {"id": "c", "depends_on": ["a", "b"],
                   "steps": [{"name": "one", "kind": "approval", "input": {"question": "Second?"}}]}]}}""");
        List<JsonNode> steps = api.awaitSteps(run, "waiting_approval", 2);
        assertThat(progress(run)).isEqualTo("a 0/3");
        approve(steps, "a");
        assertThat(progress(run)).isEqualTo("b 1/3");
        approve(steps, "b");
        approve(api.awaitSteps(run, "waiting_approval", 1), "c");
        api.awaitState(run, "completed");
        assertThat(progress(run)).isEqualTo("null 3/3");
    }

    private void approve(List<JsonNode> steps, String task) {
        JsonNode step = steps.stream().filter(each -> each.get("task_key").stringValue().equals(task)).findFirst()
                .orElseThrow();
        assertThat(api.post(API + "/steps/" + step.get("id").stringValue() + "/approve", "{}").status()).isEqualTo(200);
    }

    /** The current task and the progress that the card of a run shows. */
    private String progress(String run) {
        JsonNode planning = api.get(API + "/board/tasks/" + mission(run).id()).json().get("planning_data");
        return planning.path("current_task").asString("null") + " " + planning.at("/task_progress/completed").intValue()
                + "/" + planning.at("/task_progress/total").intValue();
    }

    @Test
    void endedTaskHasItsOutcomeAndReport() {
        String run = api.create(MIXED);
        api.awaitState(run, "failed");

        assertThat(tasks(run)).allMatch(task -> task.status().equals("done"));
        assertThat(named(run, "Find").result()).contains("line one");
        assertThat(named(run, "Breaks").errorMessage()).isNotBlank();
        assertThat(named(run, "After")).satisfies(never -> assertThat(never.result() + never.errorMessage())
                .containsAnyOf("skipped", "cancelled"));

        List<Report> reports = keelson.reports().list(ReportQuery.all().run(run)).items();
        assertThat(reports).extracting(report -> report.title().strip() + " " + report.type())
                .containsExactlyInAnyOrder("Find research", "Write delivery", "Sum summary", "Breaks incident",
                        "Mixed bag summary");
        assertThat(reports).allMatch(report -> report.content() == null);
        assertThat(keelson.reports().list(ReportQuery.all().run(run).type("research")).items()).hasSize(1);
        assertThat(keelson.reports().list(ReportQuery.all().run(run).agent("unknown")).items()).isEmpty();
        assertThat(keelson.reports().list(ReportQuery.all().run(run).between(reports.getFirst().createdAt()
                .plusSeconds(1), null)).items()).isEmpty();

        String whole = content(reports, "Mixed bag");
        assertThat(whole).startsWith("# Mixed bag\n").contains("> Find out\n> # not a heading\n", "**failed**",
                "- Find (`find`): completed\n", "- After (`after`): ", "Tasks: 5, completed 3, failed 1", run);
        String found = content(reports, "Find");
        assertThat(found).contains("> Look\n> ```\n> around\n", "- look (`echo`): completed\n", "## Output",
                "- Duration: ", "/api/v1/runs/" + run);
        assertThat(found.lines().filter(line -> line.startsWith("#"))).containsExactly("# Find", "## Goal",
                "## Output", "## Figures", "## Links", "## What was done");
        assertThat(content(reports, "Breaks")).contains("## Failure");
        assertThat(stored(run, "Mixed bag")).isEqualTo(whole);
        assertThat(found).startsWith(stored(run, "Find"));

        ApiServer.Answer plain = api.get(API + "/reports/" + reports.getFirst().id(), "Accept", "text/markdown");
        assertThat(plain.header("Content-Type")).isEqualTo("text/markdown; charset=utf-8");
        assertThat(plain.text()).startsWith("# ");
    }

    /** All its steps failed, so none_failed counts it as failed, with a cached and with a loaded view. */
    @Test
    void taskWithIgnoredStepsOnlyIsShownAsSuchEverywhere() {
        String run = api.create("""
                {"name": "without", "start": true, "plan": {"tasks": [
                  {"id": "a", "title": "A", "failure_mode": "continue", "steps": [{"name": "one", "tool": "fail",
                   "input": {"code": "NO_LUCK", "class": "permanent", "message": "none today"}}]},
                  {"id": "unless", "depends_on": ["a"], "trigger_rule": "none_failed",
                   "steps": [{"name": "one", "tool": "noop"}]},
                  {"id": "anyway", "depends_on": ["a"], "trigger_rule": "all_done",
                   "steps": [{"name": "one", "tool": "noop"}]}]}}""");
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("failures").intValue()).isEqualTo(1);
        JsonNode tasks = api.get(API + "/runs/" + run + "/tasks").json().get("items");
        assertThat(tasks.valueStream().map(task -> task.get("key").stringValue() + " "
                + task.get("state").stringValue() + " " + task.get("failure_ignored").booleanValue() + " "
                + task.path("error_code").asString("-")))
                .containsExactly("a skipped true NO_LUCK", "unless skipped false -", "anyway completed false -");
        assertThat(api.get(API + "/tasks/" + tasks.at("/0/id").stringValue() + "/explain").text())
                .contains("the task is skipped: NO_LUCK");
        assertThat(named(run, "A").result()).isEqualTo("failed, and the run continued without it: none today");
        assertThat(named(run, "A").errorMessage()).isEqualTo("none today");
        List<Report> reports = keelson.reports().list(ReportQuery.all().run(run)).items();
        assertThat(reports).extracting(report -> report.title() + " " + report.type()).contains("A incident");
        assertThat(content(reports, "A")).contains("NO_LUCK", "> none today");
        assertThat(api.get(API + "/runs/" + run + "/events?limit=200").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals("task_skipped")).findFirst()
                .orElseThrow().get("payload").toString()).contains("\"failure_ignored\":true", "NO_LUCK");
    }

    /** PRD-101, AC-27: ids of another workspace are unknown, and its run has no tasks and no reports here. */
    @Test
    void ac27AnotherWorkspacesRunDoesNotExist() {
        String run = api.create(MIXED);
        api.awaitState(run, "failed");
        List<String> theirs = List.of("/runs/" + run, "/board/tasks/" + mission(run).id(),
                "/board/tasks/" + tasks(run).getFirst().id(),
                "/tasks/" + api.get(API + "/runs/" + run + "/tasks").json()
                        .at("/items/0/id").stringValue(),
                "/reports/" + keelson.reports().list(ReportQuery.all().run(run)).items().getFirst().id());
        String stranger = api.stranger();
        assertThat(theirs).allSatisfy(path -> {
            assertThat(api.get(API + path).status()).isEqualTo(200);
            assertThat(api.get(API + path, "Authorization", stranger).status()).isEqualTo(404);
        });
        assertThat(List.of("/board/tasks?run_id=" + run, "/reports?run_id=" + run, "/runs")).allSatisfy(path -> {
            assertThat(api.get(API + path).json().get("items")).isNotEmpty();
            assertThat(api.get(API + path, "Authorization", stranger).json().get("items")).isEmpty();
        });
    }

    /** Several that bear one time: the run's own first, then its tasks from the last to the first, page by page. */
    @Test
    void reportsOfOneCommitStandInAnOrder() {
        List<String> tasks = IntStream.range(0, 12).mapToObj(n -> "t" + n).toList();
        String run = api.create("""
                {"name": "whole", "start": true, "plan": {"tasks": [%s]}}""".formatted(tasks.stream().map(key -> """
                {"id": "%s", "steps": [{"tool": "echo", "input": {"text": "x"}}]}""".formatted(key))
                .collect(Collectors.joining(","))));
        api.awaitState(run, "completed");
        api.sql("update agent_reports set created_at = now() where run_id = '" + run + "'");

        List<Report> whole = keelson.reports().list(ReportQuery.all().run(run)).items();
        assertThat(whole).extracting(Report::title).startsWith("whole").hasSize(13);
        assertThat(whole.subList(1, 13).reversed()).extracting(Report::title).containsExactlyElementsOf(tasks);

        List<String> paged = new ArrayList<>();
        String next = "";
        do {
            JsonNode page = api.get(API + "/reports?limit=2&run_id=" + run + next).json();
            page.at("/items").forEach(item -> paged.add(item.get("id").stringValue()));
            next = "&cursor=" + page.get("next_cursor").asString("");
        } while (!next.endsWith("="));
        assertThat(paged).containsExactlyElementsOf(whole.stream().map(Report::id).toList());
    }

    /** Each attempt of a run has a report of its own; what was carried over has one from when it was made. */
    @Test
    void aRetriedRunIsReportedOnAgain() {
        String run = api.create(MIXED);
        api.awaitState(run, "failed");
        assertThat(api.post(API + "/runs/" + run + "/retry", "{}").status()).isLessThan(300);
        api.awaitState(run, "failed");

        List<Report> reports = keelson.reports().list(ReportQuery.all().run(run)).items();
        assertThat(reports).filteredOn(report -> report.taskId() == null).extracting(Report::attempt)
                .contains(1, 2);
        assertThat(reports).filteredOn(report -> report.title().equals("Find")).hasSize(1);
    }

    @Test
    void peopleAddTasksToTheBoard() {
        Board board = keelson.board();
        BoardTask made = board.create(BoardTaskRequest.titled("Call back").assignee("ann").tags("a", "b", "a"));
        assertThat(made.status()).isEqualTo("inbox");
        assertThat(made.tags()).containsExactly("a", "b");
        assertThat(made.sourceType()).isEqualTo("user");
        BoardTask part = board.create(BoardTaskRequest.titled("Find number").parent(made.id()).status("in_progress"));
        assertThat(part.startedAt()).isNotNull();
        assertThat(board.tasks(BoardQuery.all().parent(made.id())).items()).containsExactly(part);
        assertThat(board.tasks(BoardQuery.all().assignee("ann")).items()).extracting(BoardTask::id)
                .containsExactly(made.id());
        assertThat(board.tasks(BoardQuery.all().tag("b")).items()).extracting(BoardTask::id)
                .containsExactly(made.id());
        assertThat(board.tasks(BoardQuery.all().tag("none")).items()).isEmpty();

        BoardTask done = board.change(made.id(), BoardTaskRequest.change().status("done").result("called"));
        assertThat(done.completedAt()).isNotNull();
        assertThat(done.title()).isEqualTo("Call back");
        assertThat(board.change(made.id(), BoardTaskRequest.change().status("inbox").assignee("")))
                .satisfies(again -> {
                    assertThat(again.completedAt()).isNull();
                    assertThat(again.assignee()).isNull();
                    assertThat(again.result()).isEqualTo("called");
                });
        board.remove(made.id());
        assertThat(board.get(part.id()).parentTaskId()).isNull();
        assertThat(api.get(API + "/board/tasks/" + made.id()).json().get("code").stringValue())
                .isEqualTo("BOARD_TASK_NOT_FOUND");
    }

    @Test
    void runsBoardTasksCannotBeEdited() {
        BoardTask mission = mission(api.create(ApiServer.WAITS));
        String at = API + "/board/tasks/" + mission.id();
        assertThat(keelson.board().change(mission.id(), BoardTaskRequest.change().priority("urgent")).priority())
                .isEqualTo("urgent");
        for (String change : List.of("{\"status\": \"done\"}", "{\"title\": \"x\", \"priority\": \"low\"}",
                "{\"assignee\": null}")) {
            ApiServer.Answer refused = api.send("PATCH", at, change.getBytes(), "Content-Type", "application/json");
            assertThat(refused.status()).as(refused.text()).isEqualTo(409);
            assertThat(refused.json().get("code").stringValue()).isEqualTo("BOARD_TASK_READ_ONLY");
        }
        assertThat(api.send("DELETE", at, null).status()).isEqualTo(409);
        assertThat(keelson.board().get(mission.id())).satisfies(same -> {
            assertThat(same.priority()).isEqualTo("urgent");
            assertThat(same.status()).isEqualTo("inbox");
        });
    }

    @Test
    void pagesAreStable() {
        List<Long> made = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            made.add(keelson.board().create(BoardTaskRequest.titled("n" + i).status(i % 2 == 0 ? "inbox" : "review")
                    .tags("pages")).id());
        }
        BoardQuery query = BoardQuery.all().tag("pages").limit(2);
        List<Long> read = new ArrayList<>();
        String cursor = null;
        do {
            Page<BoardTask> page = keelson.board().tasks(query.from(cursor));
            page.items().forEach(task -> read.add(task.id()));
            keelson.board().create(BoardTaskRequest.titled("later").tags("pages"));
            cursor = page.nextCursor();
        } while (cursor != null);
        assertThat(read).isEqualTo(made.reversed());

        JsonNode columns = api.get(API + "/board?tag=pages&limit=2").json().get("columns");
        assertThat(columns.valueStream().map(column -> column.get("status").stringValue()))
                .containsExactly("inbox", "assigned", "in_progress", "review", "done");
        JsonNode review = columns.get(3);
        assertThat(review.get("items").size()).isEqualTo(2);
        Page<BoardTask> rest = keelson.board().tasks(query.status("review")
                .from(review.get("next_cursor").stringValue()));
        assertThat(rest.items()).extracting(BoardTask::id).containsExactly(made.get(1));
        assertThat(api.get(API + "/board?source_type=user").json().at("/columns/3/count").intValue())
                .isEqualTo(keelson.board().tasks(BoardQuery.all().source("user").status("review")).items().size());
    }

    /** Twice under one idempotency key is once. */
    @Test
    void aTaskIsMadeOnce() {
        String body = "{\"title\": \"once\", \"tags\": [\"once\"]}";
        for (int i = 0; i < 2; i++) {
            assertThat(api.post(API + "/board/tasks", body, "Idempotency-Key", "once").status()).isBetween(200, 201);
        }
        assertThat(keelson.board().tasks(BoardQuery.all().tag("once")).items()).hasSize(1);
    }

    private BoardTask mission(String run) {
        List<BoardTask> found = new ArrayList<>();
        keelson.board().columns(BoardQuery.all().source("orchestration").limit(100)).forEach(column -> column.items()
                .stream().filter(task -> run.equals(task.runId())).forEach(found::add));
        assertThat(found).hasSize(1);
        return found.getFirst();
    }

    private List<BoardTask> tasks(String run) {
        return keelson.board().tasks(BoardQuery.all().run(run)).items();
    }

    private BoardTask named(String run, String title) {
        return tasks(run).stream().filter(task -> task.title().equals(title)).findFirst().orElseThrow();
    }

    private String stored(String run, String title) {
        return api.database().withConnection(c -> {
            try (var read =
                    c.prepareStatement("select content from agent_reports where run_id = ?::uuid and title = ?")) {
                read.setString(1, run);
                read.setString(2, title);
                try (var row = read.executeQuery()) {
                    assertThat(row.next()).isTrue();
                    return row.getString(1);
                }
            }
        });
    }

    private String content(List<Report> reports, String title) {
        String id = reports.stream().filter(report -> report.title().equals(title)).findFirst().orElseThrow().id();
        return keelson.reports().get(id).content();
    }
}
