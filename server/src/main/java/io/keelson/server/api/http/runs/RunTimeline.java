package io.keelson.server.api.http.runs;

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
import tools.jackson.databind.node.ArrayNode;
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
        ObjectNode document = Json.object().put("run_id", run.toString()).put("attempt", span.attempt())
                .put("from", Json.time(Instant.ofEpochMilli(span.from())))
                .put("to", Json.time(Instant.ofEpochMilli(span.to()))).put("open", !span.ended())
                .put("last_seq", span.lastSeq());
        List<Stretch> all = new ArrayList<>(times.asked().stream().map(each -> person(each, span.to())).toList());
        ArrayNode tasks = Json.array();
        for (Task task : times.tasks()) {
            List<Stretch> stretches = TaskStretches.of(task, times.asked(), span.to());
            all.addAll(stretches);
            tasks.add(row(task, stretches, span));
        }
        document.set("spent", whole ? spent(TimeSpent.of(all, span.from(), span.to()), times) : null);
        document.set("asked", times.whole() ? asked(times.asked(), span) : null);
        document.set("tasks", tasks);
        return document;
    }

    private static ArrayNode asked(List<Between> asked, Span span) {
        ArrayNode found = Json.array();
        asked.forEach(each -> {
            Long to = each.to();
            found.addObject().put("from_ms", each.from() - span.from()).put("to_ms",
                    to == null ? null : Long.valueOf(to - span.from()));
        });
        return found;
    }

    private static Stretch person(Between asked, long now) {
        Long to = asked.to();
        return new Stretch(Kind.PERSON, asked.from(), to == null ? now : to, to == null);
    }

    private static ObjectNode spent(TimeSpent spent, Times times) {
        Span span = times.span();
        ObjectNode document = Json.object();
        for (Kind kind : Kind.values()) {
            document.put(kind.wire() + "_ms", spent.millis().getOrDefault(kind, 0L));
        }
        long ended = times.ended().stream()
                .mapToLong(each -> Math.max(0, Objects.requireNonNull(each.to()) - Math.max(each.from(), span.from())))
                .sum();
        document.put("other_ms", spent.other() - ended).put("ended_ms", ended);
        ArrayNode idle = document.putArray("idle");
        spent.idle().forEach(each -> idle.addObject().put("from_ms", each.from() - span.from()).put("to_ms",
                each.to() - span.from()));
        return document;
    }

    private static ObjectNode row(Task task, List<Stretch> stretches, Span span) {
        ObjectNode row = Json.object().put("id", task.id().toString()).put("key", task.key()).put("title", task.title())
                .put("state", task.state()).put("state_type", task.stateType()).put("waits", waits(task))
                .put("group_id", text(task.group())).put("item_index", task.itemIndex()).put("agent_name", task.agent())
                .put("error_code", task.errorCode()).put("failures", task.failures())
                .put("attempt_number", task.attemptNumber()).put("steps", task.steps().size())
                .put("version_id", task.version());
        ArrayNode parts = row.putArray("stretches");
        for (Stretch each : stretches) {
            parts.addObject().put("kind", each.kind().wire()).put("from_ms", each.from() - span.from()).put("to_ms",
                    each.open() ? null : Long.valueOf(each.to() - span.from()));
        }
        return row;
    }

    private static @Nullable String text(@Nullable UUID id) {
        return id == null ? null : id.toString();
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
