package io.keelson.cli.models;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.Task;
import io.keelson.api.run.TranscriptEntry;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.models.EvaluationFile.Case;
import io.keelson.cli.models.EvaluationFile.Variant;
import io.keelson.cli.models.Trial.Outcome;
import io.keelson.client.ForkRequest;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Starts the trials of an evaluation, waits for them and reads their results. Each is a fork under an idempotency key
 * made of its parameters, so that a repeated evaluation finds the trials that exist.
 */
final class Trials {
    private static final String NOT_RECORDED = "CALL_NOT_RECORDED";
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

    private final Keelson keelson;
    private final EvaluationFile file;
    private final Clock clock;
    private final @Nullable Instant deadline;
    private final Consumer<String> news;

    /** @param run null for a fork that was refused */
    private record Started(Case of, Variant variant, int number, @Nullable Run run,
            @Nullable KeelsonException refusal) {}

    /**
     * @param deadline null to wait without an end
     * @param news receives a line for each trial that has ended
     */
    Trials(Keelson keelson, EvaluationFile file, Clock clock, @Nullable Instant deadline, Consumer<String> news) {
        this.keelson = keelson;
        this.file = file;
        this.clock = clock;
        this.deadline = deadline;
        this.news = news;
    }

    /**
     * The originals and all trials.
     *
     * @throws CliException when the time is over
     */
    List<Trial> all() {
        List<Case> cases = file.cases().stream().map(each -> new Case(each.name(), RunDocuments.id(keelson, each.run()),
                each.task(), each.turn())).toList();
        List<Trial> originals = cases.stream().map(this::original).toList();
        List<Started> started = new ArrayList<>();
        for (Case each : cases) {
            for (Variant variant : file.variants()) {
                for (int number = 1; number <= file.repeat(); number++) {
                    started.add(start(each, variant, number));
                }
            }
        }
        List<Trial> trials = new ArrayList<>(originals);
        started.forEach(each -> {
            Trial ended = result(each);
            news.accept(ended.variant() + ", " + ended.name() + ": " + ended.outcome().wire());
            trials.add(ended);
        });
        return file.judge() == null ? trials : trials.stream().map(each -> judged(each, file.judge())).toList();
    }

    private Trial original(Case of) {
        Task task = RunDocuments.task(keelson, of.run(), of.task());
        if (!task.ended()) {
            throw CliException.failed("TASK_NOT_ENDED", "task " + of.task() + " of run " + of.run()
                    + " has not ended");
        }
        List<TranscriptEntry> entries = (of.turn() == 1
                ? keelson.tasks().wholeTranscript(task.id())
                : keelson.tasks().transcript(task.id())).stream().filter(entry -> entry.turn() >= of.turn()).toList();
        return trial(of, EvaluationFile.ORIGINAL, 0, of.run(), task, outcome(task), entries);
    }

    private Started start(Case of, Variant variant, int number) {
        ObjectNode identity = Json.object().put("evaluation", file.name()).put("run", of.run()).put("task", of.task())
                .put("turn", of.turn()).put("recorded", file.recorded()).put("model", variant.model())
                .put("instructions", variant.instructions()).put("number", number);
        if (variant.tools() != null) {
            identity.set("tools", Json.strings(variant.tools()));
        }
        ForkRequest fork = ForkRequest.from(of.task()).turn(of.turn()).onlyTask().name("evaluation " + file.name())
                .idempotencyKey(key(identity));
        fork = file.recorded() ? fork.withRecordedCalls() : fork;
        fork = variant.model() == null ? fork : fork.model(variant.model());
        fork = variant.instructions() == null ? fork : fork.instructions(variant.instructions());
        fork = variant.tools() == null ? fork : fork.tools(variant.tools());
        try {
            return new Started(of, variant, number, keelson.runs().fork(of.run(), fork), null);
        } catch (KeelsonException refusal) {
            if (refusal.isTransient() || refusal.status() >= 500 || refusal.status() == 401
                    || refusal.status() == 403) {
                throw refusal;
            }
            return new Started(of, variant, number, null, refusal);
        }
    }

    private static String key(JsonNode identity) {
        return "evaluation-" + Json.digest(identity);
    }

    private Trial result(Started started) {
        KeelsonException refusal = started.refusal();
        if (started.run() == null) {
            return new Trial(started.of().name(), started.variant().name(), started.number(), null, Outcome.REFUSED,
                    Objects.requireNonNull(refusal).code(), refusal.getMessage(), null, BigDecimal.ZERO, 0, 0, 0,
                    NullNode.getInstance());
        }
        Run run = settled(started.run());
        Task task = RunDocuments.task(keelson, run.id(), started.of().task());
        return trial(started.of(), started.variant().name(), started.number(), run.id(), task,
                run.ended() ? outcome(task) : Outcome.UNDECIDED, keelson.tasks().wholeTranscript(task.id()));
    }

    /** The run at its end, or when it continues only after a person has decided. */
    private Run settled(Run run) {
        while (true) {
            try {
                return keelson.runs().awaitEnd(run.id(), POLL_INTERVAL);
            } catch (KeelsonException e) {
                if (!e.code().equals("AWAIT_TIMEOUT")) {
                    throw e;
                }
            }
            Run now = keelson.runs().get(run.id());
            if (now.waitsForHumans() > 0) {
                return now;
            }
            if (deadline != null && clock.instant().isAfter(deadline)) {
                throw CliException.timedOut("the time is over; the trials continue, and the same command resumes them");
            }
        }
    }

    private static Outcome outcome(Task task) {
        return switch (task.state()) {
            case "completed" -> Outcome.PASSED;
            case "awaiting_human" -> Outcome.UNDECIDED;
            default -> NOT_RECORDED.equals(task.errorCode()) ? Outcome.STOPPED : Outcome.FAILED;
        };
    }

    private static Trial trial(Case of, String variant, int number, String run, Task task, Outcome outcome,
            List<TranscriptEntry> entries) {
        List<TranscriptEntry> own = entries.stream().filter(entry -> !entry.copied()).toList();
        BigDecimal cost = own.stream().map(entry -> entry.cost() == null ? BigDecimal.ZERO : entry.cost())
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        return new Trial(of.name(), variant, number, run, outcome, outcome == Outcome.PASSED ? null : task.errorCode(),
                outcome == Outcome.PASSED ? null : task.errorMessage(), task.verifierScore(), cost, count(own, "turn"),
                count(own, "call"), task.attemptNumber(), task.output());
    }

    private static int count(List<TranscriptEntry> entries, String kind) {
        return (int) entries.stream().filter(entry -> entry.kind().equals(kind)).count();
    }

    /** The trial with the marks of the evaluation's judge, who sees only the output. */
    private Trial judged(Trial trial, JsonNode judge) {
        if (trial.output().isNull()) {
            return trial.judged(trial.outcome(), null, trial.errorCode(), trial.errorMessage());
        }
        ObjectNode input = ((ObjectNode) judge.deepCopy()).put("output", "${ .inputs.output }");
        ObjectNode mission = Json.object().put("name", "evaluation " + file.name() + ": judge").put("start", true);
        mission.putObject("config").putObject("autonomy").put("level", "full_auto");
        mission.putObject("inputs").putObject("output");
        mission.putObject("input").set("output", trial.output());
        mission.putObject("plan").putArray("tasks").addObject().put("id", "judge").putArray("steps").addObject()
                .put("tool", "model.judge").set("input", input);
        ObjectNode identity = Json.object().put("evaluation", file.name()).put("of", trial.run())
                .put("task", trial.name()).put("number", trial.number());
        identity.set("mission", mission);
        Run run = settled(keelson.runs().create(RunRequest.of(mission).idempotencyKey(key(identity))));
        JsonNode verdict = keelson.runs().steps(run.id()).stream().map(Step::output).findFirst()
                .orElse(NullNode.getInstance());
        if (!run.completed() || !verdict.isObject()) {
            return trial.judged(Outcome.UNDECIDED, null, run.errorCode(),
                    "the judge has failed: " + run.errorMessage());
        }
        BigDecimal score = verdict.path("score").decimalValue().stripTrailingZeros();
        String feedback = verdict.path("feedback").asString("");
        return switch (verdict.path("verdict").asString("")) {
            case "passed" -> trial.judged(trial.outcome(), score, trial.errorCode(), trial.errorMessage());
            case "rejected" -> trial.judged(Outcome.FAILED, score, "OUTPUT_REJECTED", feedback);
            default -> trial.judged(Outcome.UNDECIDED, score, "JUDGE_UNSURE", feedback);
        };
    }
}
