package io.keelson.server.api.http.runs;

import io.keelson.api.run.TaskFlow;
import io.keelson.api.run.Timeline;
import io.keelson.core.plan.Flow;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.picture.Stretch;
import io.keelson.server.api.picture.Stretch.Kind;
import io.keelson.server.api.picture.TaskStretches;
import io.keelson.server.api.picture.TimeSpent;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.TimelineReader;
import io.keelson.server.engine.store.read.TimelineReader.Between;
import io.keelson.server.engine.store.read.TimelineReader.Span;
import io.keelson.server.engine.store.read.TimelineReader.Task;
import io.keelson.server.engine.store.read.TimelineReader.Times;
import io.keelson.server.tenant.auth.Scope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** When the tasks of a run waited and worked. All tasks are one answer of short rows, however many they are. */
final class RunTimeline {

    private final Reads reads;

    RunTimeline(Reads reads) {
        this.reads = reads;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/runs/{id}/timeline", this::timeline);
    }

    private ApiResponse timeline(ApiRequest request) {
        UUID run = request.id("id", IdKind.RUN);
        Query query = request.query();
        Long attempt = query.integer("attempt");
        Long after = query.integer("after");
        Times times = reads.read((runs, c) -> Reads.found(TimelineReader.of(c, request.workspace(), run,
                attempt == null ? null : attempt.intValue(), after), IdKind.RUN, run));
        return ApiResponse.ok(document(run, times, after == null));
    }

    /** @param whole whether all tasks are there, so that their times can be added up */
    private static ObjectNode document(UUID run, Times times, boolean whole) {
        Span span = times.span();
        List<Stretch> all = new ArrayList<>(times.asked().stream().map(each -> person(each, span.to())).toList());
        List<Timeline.Row> tasks = new ArrayList<>();
        for (Task task : times.tasks()) {
            List<Stretch> stretches = TaskStretches.of(task, times.asked(), span.to());
            all.addAll(stretches);
            tasks.add(row(task, stretches, span));
        }
        return Json.document(new Timeline(run.toString(), span.attempt(), Instant.ofEpochMilli(span.from()),
                Instant.ofEpochMilli(span.to()), !span.ended(), span.lastSeq(),
                whole ? spent(TimeSpent.of(all, span.from(), span.to()), times) : null,
                times.whole() ? asked(times.asked(), span) : null, tasks));
    }

    private static List<Timeline.Interval> asked(List<Between> asked, Span span) {
        return asked.stream().map(each -> {
            Long to = each.to();
            return new Timeline.Interval(each.from() - span.from(), to == null ? null : to - span.from());
        }).toList();
    }

    private static Stretch person(Between asked, long now) {
        Long to = asked.to();
        return new Stretch(Kind.PERSON, asked.from(), to == null ? now : to, to == null);
    }

    private static Timeline.Spent spent(TimeSpent spent, Times times) {
        Span span = times.span();
        long ended = times.ended().stream()
                .mapToLong(each -> Math.max(0, Objects.requireNonNull(each.to()) - Math.max(each.from(), span.from())))
                .sum();
        return new Timeline.Spent(millis(spent, Kind.WORK), millis(spent, Kind.FAILED), millis(spent, Kind.QUEUED),
                millis(spent, Kind.BACKOFF), millis(spent, Kind.PERSON), millis(spent, Kind.TIMER),
                Math.max(0, spent.other() - ended), ended, spent.idle().stream()
                        .map(each -> new Timeline.Interval(each.from() - span.from(), each.to() - span.from()))
                        .toList());
    }

    private static long millis(TimeSpent spent, Kind kind) {
        return spent.millis().getOrDefault(kind, 0L);
    }

    private static Timeline.Row row(Task task, List<Stretch> stretches, Span span) {
        return new Timeline.Row(task.id().toString(), task.key(), task.title(), task.state(), task.stateType(),
                waits(task), Objects.toString(task.group(), null), task.itemIndex(), task.maxRounds(),
                flow(task.flow()), task.agent(), task.errorCode(),
                task.failures(), task.attemptNumber(), task.steps().size(), task.version(),
                stretches.stream().map(each -> new Timeline.Part(each.kind().wire(), each.from() - span.from(),
                        each.open() ? null : each.to() - span.from())).toList());
    }

    private static @Nullable TaskFlow flow(@Nullable Flow flow) {
        return flow == null ? null
                : new TaskFlow(flow.chooses(), flow.ends(),
                        flow.branches().stream().map(each -> new TaskFlow.Branch(each.name(), each.when())).toList(),
                        flow.within().stream().map(each -> new TaskFlow.Place(each.of(), each.branch())).toList());
    }

    /** The waits of a running task's open steps, unless one of them is executed. */
    private static @Nullable String waits(Task task) {
        if (!task.state().equals("running")) {
            return null;
        }
        List<String> states = task.steps().stream().map(TimelineReader.Step::state).toList();
        return states.contains("running") ? null
                : Stream.of("waiting_approval", "awaiting_retry", "waiting")
                        .filter(states::contains).findFirst().orElse(null);
    }
}
