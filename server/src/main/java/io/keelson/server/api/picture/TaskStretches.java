package io.keelson.server.api.picture;

import io.keelson.server.api.picture.Stretch.Kind;
import io.keelson.server.engine.store.read.TimelineReader.Between;
import io.keelson.server.engine.store.read.TimelineReader.Lease;
import io.keelson.server.engine.store.read.TimelineReader.Step;
import io.keelson.server.engine.store.read.TimelineReader.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The time of one task as stretches: without gaps from when it was queued until it ended, for steps that follow each other. */
public final class TaskStretches {

    /** A task of more stretches, such as an agent of many turns, has its time in so many equal parts. */
    private static final int MAX = 120;

    private final Task task;
    private final List<Between> asked;
    private final long now;
    private final List<Stretch> all = new ArrayList<>();
    /** The end of the time that is explained. */
    private long last;

    private TaskStretches(Task task, List<Between> ofRun, long now) {
        this.task = task;
        asked = Stream.concat(task.asked().stream(), ofRun.stream()).sorted(Comparator.comparingLong(Between::from))
                .toList();
        this.now = now;
    }

    /**
     * @param asked when people were asked about the run as a whole: a task that nothing executes waits for them
     * @param now the end of what lasts, in milliseconds since 1970
     */
    public static List<Stretch> of(Task task, List<Between> asked, long now) {
        List<Stretch> found = new ArrayList<>();
        task.before().forEach(each -> found.addAll(new TaskStretches(each, asked, now).stretches()));
        found.addAll(new TaskStretches(task, asked, now).stretches());
        return found.size() <= MAX ? found : parts(found);
    }

    private List<Stretch> stretches() {
        Long queued = task.queued();
        if (queued == null && task.steps().isEmpty()) {
            return List.of();
        }
        long first = task.steps().isEmpty() ? Long.MAX_VALUE : task.steps().getFirst().started();
        last = Math.min(queued == null ? first : queued, first);
        task.steps().forEach(this::add);
        Long completed = task.completed();
        long end = completed == null ? now : completed;
        boolean working = !all.isEmpty() && all.getLast().open();
        if (end > last && !working) {
            gap(end, completed == null, tail());
        }
        return joined();
    }

    private void add(Step step) {
        if (step.leases().stream().noneMatch(Lease::claimed)) {
            single(step);
            return;
        }
        long begun = Long.MIN_VALUE;
        for (Lease lease : step.leases()) {
            if (begun != Long.MIN_VALUE) {
                put(lease.failed() ? Kind.FAILED : Kind.WORK, begun, lease.at(), false);
                begun = Long.MIN_VALUE;
            }
            if (lease.claimed()) {
                gap(lease.at(), false, between(step));
                begun = lease.at();
            }
        }
        if (begun != Long.MIN_VALUE) {
            boolean open = step.completed() == null;
            put(kind(step), begun, open ? now : Objects.requireNonNull(step.completed()), open);
        }
    }

    private void single(Step step) {
        gap(step.started(), false, between(step));
        Long completed = step.completed();
        if (step.state().equals("awaiting_retry") || step.state().equals("pending")) {
            return;
        }
        put(kind(step), step.started(), completed == null ? now : completed, completed == null);
    }

    private static Kind kind(Step step) {
        if (step.state().equals("failed")) {
            return Kind.FAILED;
        }
        return switch (step.kind()) {
            case "approval" -> Kind.PERSON;
            case "wait", "signal", "run" -> Kind.TIMER;
            default -> switch (step.state()) {
                case "waiting" -> Kind.TIMER;
                case "waiting_approval" -> Kind.PERSON;
                default -> Kind.WORK;
            };
        };
    }

    private Kind between(Step next) {
        if (next.gated()) {
            return Kind.PERSON;
        }
        return !all.isEmpty() && all.getLast().kind() == Kind.FAILED ? Kind.BACKOFF : Kind.QUEUED;
    }

    /** After the last step. */
    private Kind tail() {
        return switch (task.state()) {
            case "awaiting_human" -> Kind.PERSON;
            case "awaiting_retry" -> Kind.BACKOFF;
            case "verifying", "continuing" -> Kind.WORK;
            case "completed" -> task.reviewed() ? Kind.PERSON : Kind.WORK;
            default -> failed() ? Kind.BACKOFF : Kind.QUEUED;
        };
    }

    /** Whether a failure was last. */
    private boolean failed() {
        return !all.isEmpty() && all.getLast().kind() == Kind.FAILED
                || !task.steps().isEmpty() && task.steps().getLast().state().equals("awaiting_retry");
    }

    /** Adds an interval without work: a person was asked, otherwise {@code otherwise}. */
    private void gap(long until, boolean open, Kind otherwise) {
        for (Between each : asked) {
            long to = Math.min(until, each.to() == null ? until : each.to());
            if (each.from() >= until || to <= last) {
                continue;
            }
            put(otherwise, last, Math.max(last, each.from()), false);
            put(Kind.PERSON, last, to, open && to == until);
        }
        if (until > last) {
            put(otherwise, last, until, open);
        }
    }

    private void put(Kind kind, long from, long to, boolean open) {
        if (to > from || open || kind == Kind.FAILED) {
            all.add(new Stretch(kind, from, Math.max(to, from + 1), open));
        }
        last = Math.max(last, to);
    }

    /** Neighbours of one kind as one. */
    private List<Stretch> joined() {
        List<Stretch> joined = new ArrayList<>();
        for (Stretch each : all) {
            Stretch before = joined.isEmpty() ? null : joined.getLast();
            if (before != null && before.kind() == each.kind() && each.from() <= before.to() + 1
                    && each.kind() != Kind.FAILED) {
                joined.set(joined.size() - 1, before.until(Math.max(before.to(), each.to()), each.open()));
            } else {
                joined.add(each);
            }
        }
        return joined;
    }

    /** Equal parts of the whole time, each with the kind that fills most of the part; a failure always shows. */
    private static List<Stretch> parts(List<Stretch> all) {
        long from = all.getFirst().from();
        long end = all.stream().mapToLong(Stretch::to).max().orElseThrow();
        List<Stretch> parts = new ArrayList<>();
        for (int i = 0; i < MAX; i++) {
            long low = from + (end - from) * i / MAX;
            long high = from + (end - from) * (i + 1) / MAX;
            boolean open = i == MAX - 1 && all.getLast().open();
            all.stream().filter(each -> each.to() > low && each.from() < high)
                    .max(Comparator.comparingLong(each -> each.kind() == Kind.FAILED ? Long.MAX_VALUE
                            : Math.min(each.to(), high) - Math.max(each.from(), low)))
                    .ifPresent(each -> parts.add(new Stretch(each.kind(), low, high, open)));
        }
        return parts;
    }
}
