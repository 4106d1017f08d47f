package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Step;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventLinesTest {

    private final Documents documents = new Documents();

    @Test
    void printsRelevantEvents() {
        RunModel model = RunModelTest.model("a", "b");
        List<Event> events = List.of(documents.run("running"), documents.task("a", "queued"),
                documents.task("a", "running"), documents.step("a", "s", "running"),
                documents.retried("a", "s", "NO_LUCK"), documents.step("a", "s", "waiting_approval"),
                documents.task("a", "completed"), documents.failed("b", "BAD", "too\nbad"), documents.run("failed"));
        assertThat(lines(events, model)).containsExactly(
                "2026-01-02T03:04:06Z run running",
                "2026-01-02T03:04:08Z a running",
                "2026-01-02T03:04:10Z a retries after NO_LUCK",
                "2026-01-02T03:04:11Z a waiting_approval: Publish?",
                "2026-01-02T03:04:12Z a completed (4.0s)",
                "2026-01-02T03:04:13Z b failed: BAD: too … bad",
                "2026-01-02T03:04:14Z run failed");
    }

    @Test
    void tellsWhatBecomesOfFailures() {
        RunModel model = RunModelTest.model("a");
        List<Event> events = List.of(documents.task("a", "running"), documents.task("a", "verifying"),
                documents.retriedIn("a", 10), documents.task("a", "running", Map.of("attempt_number", 2)),
                documents.task("a", "awaiting_human", Map.of("reason", "a review")), documents.escalated("a", "t-7"),
                documents.resolved("t-7"), documents.note("run_replanning", Map.of("reason", "asked for")),
                documents.note("run_replanned", Map.of("plan_version", 2)),
                documents.note("run_acceptance_requested", Map.of()));
        assertThat(lines(events, model)).extracting(line -> line.substring("2026-01-02T03:04:06Z ".length()))
                .containsExactly("a running", "a verifying", "a retries at 2026-01-02T03:04:18Z after X",
                        "a running, attempt 2", "a waits for a person: a review", "ticket t-7: it is broken",
                        "ticket t-7 answered: resume", "run is replanning: asked for", "run has plan version 2",
                        "run waits for its result to be accepted");
    }

    @Test
    void namesTheRunOfAResultThatIsTakenOver() {
        List<Event> events = List.of(documents.source("a", "s", "step_result_awaited", "run-1"),
                documents.source("a", "s", "step_result_reused", "run-1"));
        assertThat(lines(events, RunModelTest.model("a"))).extracting(line -> line.substring(21)).containsExactly(
                "a waits for the same result of run run-1", "a takes over the result of run run-1, at no cost");
    }

    @Test
    void stepBlockedByATicketShowsNoRetry() {
        List<Event> events = List.of(documents.task("a", "running"), documents.refused("a", "s", "DOWN"),
                documents.escalated("a", "t-7"));
        assertThat(lines(events, RunModelTest.model("a"))).extracting(line -> line.substring(21))
                .containsExactly("a running", "a waits for the answer to a ticket after DOWN",
                        "ticket t-7: it is broken");
    }

    /** What it waits for is known from the lists, which are read again then. */
    @Test
    void namesTheSignalThatAStepWaitsFor() {
        RunModel model = RunModelTest.model("a");
        Step pending = Documents.signal("w", "a", "pending", "${ .inputs.name }");
        Step waiting = Documents.signal("w", "a", "waiting", "paid");
        model.name(List.of(Documents.task("a")), List.of(pending));
        Event event = documents.step("a", "w", "waiting");
        model.apply(event);
        assertThat(model.unnamed() && model.waitsForAnswer()).isTrue();
        model.name(List.of(Documents.task("a")), List.of(waiting));
        assertThat(EventLines.line(event, model, Style.PLAIN)).endsWith(" a waits for the signal 'paid'");
        model.apply(documents.step("a", "s", "waiting"));
        assertThat(model.waitsForAnswer()).isFalse();
    }

    @Test
    void ofManyTasksOnlyTheExtraordinaryAndACount() {
        RunModel model = RunModelTest.model(IntStream.range(0, 201).mapToObj(i -> "t" + i).toArray(String[]::new));
        List<Event> events = List.of(documents.task("t1", "completed"), documents.failed("t2", "BAD", "bad"));
        assertThat(lines(events, model)).containsExactly("2026-01-02T03:04:07Z t2 failed: BAD: bad");
        assertThat(EventLines.progress(model)).isEqualTo("2 of 201 tasks ended, 0 at work, 1 failed");
        assertThat(EventLines.progress(RunModelTest.model("a"))).isNull();
    }

    private static List<String> lines(List<Event> events, RunModel model) {
        return events.stream().map(event -> {
            model.apply(event);
            return EventLines.line(event, model, Style.PLAIN);
        }).filter(Objects::nonNull).toList();
    }
}
