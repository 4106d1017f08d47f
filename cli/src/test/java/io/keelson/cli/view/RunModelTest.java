package io.keelson.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Task;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class RunModelTest {

    record Row(String name, boolean waits, Function<Documents, List<Event>> events) {}

    static Stream<Row> waiting() {
        return Stream.of(
                new Row("nothing has begun", false, d -> List.of()),
                new Row("a step is at work", false, d -> List.of(d.task("a", "running"), d.step("a", "s", "running"))),
                new Row("only an approval is open", true,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "waiting_approval"))),
                new Row("another task is at work beside it", false,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "waiting_approval"),
                                d.task("b", "running"), d.step("b", "t", "running"))),
                new Row("another task is queued", false,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "waiting_approval"),
                                d.task("b", "queued"))),
                new Row("another task will be tried again", false,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "waiting_approval"),
                                d.task("b", "running"), d.retried("b", "t", "X"))),
                new Row("a timer runs in another task", false,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "waiting_approval"),
                                d.task("b", "running"), d.step("b", "t", "waiting"))),
                new Row("a group is open because of its child's approval", true,
                        d -> List.of(d.task("g", "running"), d.task("g[0]", "running"),
                                d.step("g[0]", "s", "waiting_approval"))),
                new Row("an output is put before a person", true,
                        d -> List.of(d.task("a", "running"), d.task("a", "verifying"), d.task("a", "awaiting_human"))),
                new Row("a verifier is at work", false,
                        d -> List.of(d.task("a", "verifying"), d.step("a", "s", "running"))),
                new Row("a ticket is open about the only task that is", true,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "awaiting_retry"),
                                d.escalated("a", "t1"))),
                new Row("the ticket was answered", false,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "awaiting_retry"),
                                d.escalated("a", "t1"), d.resolved("t1"))),
                new Row("it was decided", false,
                        d -> List.of(d.task("a", "running"), d.step("a", "s", "waiting_approval"),
                                d.step("a", "s", "completed"))));
    }

    @ParameterizedTest
    @MethodSource("waiting")
    void waitsForAHumanWhenNothingElseCanMove(Row row) {
        RunModel model = model("a", "b", "g", "g[0]");
        row.events().apply(new Documents()).forEach(model::apply);
        assertThat(model.waitsForHuman()).as(row.name()).isEqualTo(row.waits());
    }

    @Test
    void aQuestionIsListedAgainOnceItIsAsked() {
        RunModel model = model("a");
        Documents documents = new Documents();
        model.apply(documents.step("a", "s", "running"));
        assertThat(model.waitsForAnswer()).isFalse();
        model.apply(documents.step("a", "s", "waiting_approval"));
        assertThat(model.waitsForAnswer()).isTrue();
        model.name(List.of(), List.of());
        assertThat(model.waitsForAnswer()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"awaiting_approval, pending, true", "paused, paused, true", "budget_exceeded, paused, true",
            "escalated, paused, true", "created, pending, false", "planning, pending, false",
            "completed, terminal, false"})
    void aRunsOwnStateMayAskForAHuman(String state, String type, boolean waits) {
        assertThat(new RunModel(Documents.run(state, type)).waitsForHuman()).isEqualTo(waits);
    }

    @Test
    void aResultThatIsToBeAcceptedWaitsForAHuman() {
        assertThat(new RunModel(Documents.gated("acceptance")).waitsForHuman()).isTrue();
        assertThat(new RunModel(Documents.gated("replanning")).waitsForHuman()).isFalse();
    }

    @Test
    void replacedTasksAreHidden() {
        RunModel model = new RunModel(Documents.running());
        model.name(List.of(Documents.superseded("a"), Documents.task("a")), List.of());
        assertThat(model.size()).isEqualTo(1);
    }

    @Test
    void childrenStandBehindTheirGroup() {
        assertThat(model("a", "g", "z", "g[0]", "g[1]").tasks()).extracting(task -> task.key)
                .containsExactly("a", "g", "g[0]", "g[1]", "z");
    }

    @Test
    void eventsOfUnlistedTasksAreKept() {
        RunModel model = new RunModel(Documents.running());
        model.apply(new Documents().task("a", "completed"));
        assertThat(model.unnamed()).isTrue();
        model.name(List.of(Documents.task("a")), List.of());
        assertThat(model.unnamed()).isFalse();
        assertThat(model.count(Phase.DONE)).isEqualTo(1);
    }

    static RunModel model(String... keys) {
        RunModel model = new RunModel(Documents.running());
        List<Task> tasks = Stream.of(keys).map(Documents::task).toList();
        model.name(tasks, List.of(Documents.step("s", "a", "pending", Map.of("question", "Publish?"))));
        return model;
    }
}
