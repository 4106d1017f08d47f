package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.api.run.Task;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TreeViewTest {

    private static final Instant NOW = Documents.BEGIN.plusSeconds(60);
    private static final Style ASCII = new Style(false, false, 0);

    private final Documents documents = new Documents();

    @Test
    void everyStateHasItsLine() {
        RunModel model = new RunModel(Documents.running());
        model.name(List.of(Documents.task("done"), Documents.task("work"), Documents.task("gate"),
                Documents.task("again"), Documents.task("broken"), Documents.task("later", "work", "done"),
                Documents.task("left")),
                List.of(Documents.step("s", "gate", "waiting_approval", Map.of("question", "Publish?")),
                        Documents.step("list", "work", "running", Map.of())));
        List.of(documents.task("done", "running"), documents.task("done", "completed"),
                documents.task("work", "running"), documents.step("work", "list", "running"),
                documents.task("gate", "running"), documents.step("gate", "s", "waiting_approval"),
                documents.task("again", "running"), documents.retried("again", "r", "NO_LUCK"),
                documents.failed("broken", "TOOL_FAILED", "no \u001b[31mway"), documents.task("left", "skipped"))
                .forEach(model::apply);
        assertThat(TreeView.render(model, 80, 24, NOW, 1, ASCII)).containsExactly(
                "report  running  r",
                " + done    1.0s    Title of done",
                " / work    57.0s   Title of work  list",
                " ? gate    55.0s   waits for a person: Publish?",
                " ~ again   53.0s   retries after NO_LUCK",
                " x broken          TOOL_FAILED: no  [31mway",
                " . later           waits for work",
                " - left            skipped",
                "====xxxxx-------------------------  1/7 tasks  14%  1m 00s  1 failed  1 not done");
    }

    @Test
    void timeInWhichARetriedRunHadEndedIsNotElapsed() {
        Run retried = Documents.reopened(45_000);

        assertThat(TreeView.render(new RunModel(retried), 80, 24, NOW, 1, ASCII).getLast()).endsWith("  15.0s");
    }

    @Test
    void failureLeftoversAreShown() {
        RunModel model = new RunModel(Documents.running());
        model.name(List.of(Documents.task("wait"), Documents.task("stuck"), Documents.task("draft"),
                Documents.task("check"), Documents.task("again")), List.of());
        List.of(documents.task("wait", "running"), documents.retriedIn("wait", 120), documents.task("stuck", "running"),
                documents.step("stuck", "s", "awaiting_retry"), documents.escalated("stuck", "t-7"),
                documents.task("draft", "running"),
                documents.task("draft", "awaiting_human", Map.of("feedback", "too short")),
                documents.task("check", "running"), documents.task("check", "verifying"),
                documents.task("again", "running", Map.of("attempt_number", 2)))
                .forEach(model::apply);
        assertThat(TreeView.render(model, 80, 24, NOW, 1, ASCII).subList(1, 6)).containsExactly(
                " ~ wait   59.0s   retries in 1m 02s after X",
                " ? stuck  57.0s   ticket t-7: it is broken",
                " ? draft  54.0s   its output waits for a person: too short",
                " / check  52.0s   verifying  Title of check",
                " / again  50.0s   attempt 2  Title of again");
        model.apply(documents.resolved("t-7"));
        assertThat(TreeView.render(model, 80, 24, NOW, 1, ASCII).get(2)).contains("~ stuck", "retries after");
    }

    @Test
    void groupCountsItsChildrenAndHidesCompletedOnes() {
        RunModel model = fanOut(20);
        for (int i = 0; i < 15; i++) {
            model.apply(documents.task("g[" + i + "]", "completed"));
        }
        model.apply(documents.task("g[15]", "running"));
        List<String> lines = TreeView.render(model, 80, 24, NOW, 0, ASCII);
        assertThat(lines.get(1)).contains("g ").contains("15/20");
        assertThat(lines).filteredOn(line -> line.contains("g[")).singleElement().asString().contains("g[15]");
    }

    @Test
    void loopHasTheNumberOfItsRound() {
        RunModel model = new RunModel(Documents.running());
        model.name(List.of(Documents.loop("poll", 2_000), Documents.round("poll", 6), Documents.round("poll", 7)),
                List.of());
        assertThat(TreeView.render(model, 80, 24, NOW, 0, ASCII).get(1)).contains("poll", "round 7 of 2,000");
    }

    @Test
    void tenThousandTasksFitAndTheImportantOnesAreSeen() {
        List<Task> tasks = new ArrayList<>(IntStream.range(0, 10_000).mapToObj(i -> Documents.task("t" + i)).toList());
        RunModel model = new RunModel(Documents.running());
        model.name(tasks, List.of());
        IntStream.range(0, 9_000).forEach(i -> model.apply(documents.task("t" + i, "completed")));
        model.apply(documents.failed("t9500", "BAD", "bad"));
        model.apply(documents.task("t9600", "running"));
        List<String> lines = TreeView.render(model, 80, 12, NOW, 0, ASCII);
        assertThat(lines).hasSizeLessThanOrEqualTo(12);
        assertThat(lines.toString()).contains("t9500").contains("BAD").contains("t9600")
                .contains("and 9,991 more: 9,000 completed, 991 pending").contains("9,000/10,000 tasks");
    }

    @Test
    void failedRowsAreKeptAmongEqualRows() {
        RunModel model = new RunModel(Documents.running());
        model.name(IntStream.range(0, 40).mapToObj(i -> Documents.task("t" + i)).toList(), List.of());
        IntStream.range(0, 40).forEach(i -> model.apply(documents.task("t" + i, "running")));
        model.apply(documents.retried("t38", "r", "NO_LUCK"));
        model.apply(documents.task("t39", "running", Map.of("attempt_number", 2)));
        assertThat(TreeView.render(model, 80, 12, NOW, 0, ASCII).toString()).contains("t38", "NO_LUCK", "t39",
                "attempt 2");
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 20, 40, 79, 200})
    void noLineIsWiderThanTheTerminal(int columns) {
        RunModel model = fanOut(3);
        model.apply(documents.failed("g[0]", "TOOL_FAILED", "日本語".repeat(50)));
        for (Style style : List.of(ASCII, new Style(true, true, 0))) {
            assertThat(TreeView.render(model, columns, 10, NOW, 0, style))
                    .allSatisfy(line -> assertThat(TerminalText.width(line)).isLessThanOrEqualTo(columns));
        }
    }

    private RunModel fanOut(int children) {
        List<Task> tasks = new ArrayList<>(List.of(Documents.task("g")));
        IntStream.range(0, children).forEach(i -> tasks.add(Documents.task("g[" + i + "]")));
        RunModel model = new RunModel(Documents.running());
        model.name(tasks, List.of());
        model.apply(documents.task("g", "running"));
        return model;
    }
}
