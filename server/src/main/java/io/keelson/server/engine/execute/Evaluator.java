package io.keelson.server.engine.execute;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.ChildInput;
import io.keelson.server.base.json.Excerpt;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.log.LogContext;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.ScopeReader.LastRound;
import io.keelson.server.engine.store.read.ScopeReader.TaskText;
import io.keelson.server.engine.store.read.UndoneRuns;
import io.keelson.server.engine.tool.ToolCatalog;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * Evaluates decisions' requests outside the committing threads, and submits the answers as commands. A lost request is
 * only delayed: a database timer repeats it.
 */
public final class Evaluator {
    private static final Logger LOG = LoggerFactory.getLogger(Evaluator.class);
    private static final int MAX_CONCURRENT = 8;
    private static final int MAX_WAITING = 10_000;
    private static final Pattern SIGNAL = Pattern.compile("[A-Za-z0-9_.-]{1,100}");
    /** A leap year, in seconds. */
    private static final double MAX_WAIT_SECONDS = 31_622_400;

    private final Database database;
    private final ScopeReader reader;
    private final Scopes scopes;
    private final Replanner replanner;
    private final ChildMissions children;
    private final Undos undos;
    private final ResultLookup results;
    private final ToolCatalog catalog;
    private final Function<Command, CompletableFuture<Reply>> commands;
    private final Semaphore running = new Semaphore(MAX_CONCURRENT);
    private final Semaphore admitted = new Semaphore(MAX_WAITING);

    public Evaluator(Database database, ScopeReader reader, Scopes scopes, Replanner replanner, ChildMissions children,
            Undos undos, ResultLookup results, ToolCatalog catalog,
            Function<Command, CompletableFuture<Reply>> commands) {
        this.database = database;
        this.reader = reader;
        this.scopes = scopes.yielding(running);
        this.replanner = replanner;
        this.children = children;
        this.undos = undos;
        this.results = results;
        this.catalog = catalog;
        this.commands = commands;
    }

    /** Evaluates soon; drops the request when too many wait. */
    public void evaluate(Evaluate request) {
        if (!admitted.tryAcquire()) {
            return;
        }
        Thread.ofVirtual().name("evaluate-" + request.subject()).start(() -> {
            running.acquireUninterruptibly();
            try {
                Evaluation answer = answer(request);
                if (answer != null) {
                    commands.apply(new Command.Evaluated(request.runId(), request.kind(), request.subject(), answer,
                            Actor.SYSTEM)).join();
                }
            } catch (RuntimeException e) {
                try (LogContext _ = LogContext.run(request.runId())) {
                    LOG.warn("evaluation {} failed and will be repeated", request, e);
                }
            } finally {
                running.release();
                admitted.release();
            }
        });
    }

    private @Nullable Evaluation answer(Evaluate request) {
        try {
            return switch (request.kind()) {
                case EVALUATE_GATE -> gate(request);
                case EVALUATE_STEP -> open(request);
                case EVALUATE_TASK_OUTPUT -> taskOutput(request);
                case EVALUATE_RUN_OUTPUT -> new Evaluation.Output(runOutput(request).toString());
                case EVALUATE_PLAN -> replanner.judge(database.withConnection(c -> reader.replan(c, request.runId())));
                case EVALUATE_CHILD -> database.withConnection(c -> reader.child(c, request.subject()));
                case EVALUATE_PARENT -> database.withConnection(c -> reader.parent(c, request.runId()));
                case EVALUATE_UNDO -> undos.of(request.runId());
                case EVALUATE_CHILD_UNDO -> childUndo(request.subject());
                case STEP_RETRY, STEP_WAIT, TASK_CONTINUE, TASK_RETRY, AGENT_RETRY, RUN_RETRY, START, HUMAN, HEARTBEAT,
                        WATCH ->
                    throw new IllegalArgumentException(request.toString());
            };
        } catch (ExpressionException e) {
            return broken(e.code(), String.valueOf(e.getMessage()));
        }
    }

    private static Evaluation broken(String code, String message) {
        return new Evaluation.Broken(new StepError(code, ErrorClass.PERMANENT, message));
    }

    private Evaluation gate(Evaluate request) {
        TaskText task = database.withConnection(c -> reader.task(c, request.subject()));
        if (task.when() != null && !scopes.condition(request.runId(), request.subject(), task.when())) {
            return new Evaluation.Skip();
        }
        if (task.child()) {
            return new Evaluation.Proceed(null,
                    Map.of(1, database.withConnection(c -> reader.generation(c, request.subject()))));
        }
        if (task.until() != null) {
            return new Evaluation.Proceed(null, Map.of(1, generation(request, task.firstRound())));
        }
        if (task.forEach() == null) {
            return new Evaluation.Proceed(null);
        }
        JsonNode items = scopes.resolve(request.runId(), request.subject(), Json.string(task.forEach()).toString());
        if (!items.isArray()) {
            return broken("FOR_EACH_NOT_A_LIST",
                    "for_each must yield a list; " + Excerpt.piece(task.forEach()) + " yields "
                            + items.getNodeType().name().toLowerCase(Locale.ROOT));
        }
        List<String> texts = new ArrayList<>(items.size());
        items.forEach(item -> texts.add(item.toString()));
        return new Evaluation.Proceed(texts,
                database.withConnection(c -> reader.generations(c, task, texts.size())),
                task.label() == null ? List.of()
                        : scopes.texts(request.runId(), request.subject(), task.label(), items));
    }

    private @Nullable Evaluation open(Evaluate request) {
        ScopeReader.StepText step = database.withConnection(c -> reader.step(c, request.subject()));
        if (step.kind().equals("run")) {
            return start(request, step);
        }
        if (step.kind().equals("call")) {
            return step.condition() == null ? delegate(request, step) : holds(request, step, step.condition());
        }
        if (step.kind().equals("tool") || step.kind().equals("turn")) {
            return results.find(request.subject(), scopes);
        }
        JsonNode input = scopes.resolve(request.runId(), step.taskId(), step.input());
        return switch (step.kind()) {
            case "approval" -> {
                Evaluation given =
                        database.withConnection(c -> reader.approved(c, request.subject(), input.toString()));
                yield given == null ? new Evaluation.Opened(input.toString(), null, null) : given;
            }
            case "signal" -> signal(input);
            default -> wait(input);
        };
    }

    private Evaluation start(Evaluate request, ScopeReader.StepText step) {
        JsonNode input = Json.read(step.input());
        if (step.tool().equals(StepSpec.UNDO_RUN)) {
            return undo(request.runId(), UUID.fromString(input.path("run_id").asString("")));
        }
        JsonNode resolved = scopes.resolve(request.runId(), step.taskId(), ChildInput.outer(input).toString());
        return children.make(database.withConnection(c -> reader.starter(c, request.runId())),
                database.withConnection(c -> reader.caller(c, request.subject())).untrusted(),
                ChildInput.joined(input, resolved));
    }

    /** Requests the undo of a child run, and reads its progress. */
    private Evaluation undo(UUID waiter, UUID child) {
        if (!database.withConnection(c -> UndoneRuns.exists(c, child))) {
            return missing(child);
        }
        Reply reply =
                commands.apply(new Command.Undo(child, "run " + waiter + " undoes the run that started it", waiter,
                        Actor.SYSTEM)).join();
        return reply instanceof Reply.Rejected refusal ? broken(refusal.code(), refusal.message()) : childUndo(child);
    }

    private Evaluation childUndo(UUID child) {
        Evaluation.ChildUndo found = database.withConnection(c -> UndoneRuns.child(c, child));
        return found == null ? missing(child) : found;
    }

    private static Evaluation missing(UUID child) {
        return broken("CHILD_RUN_GONE", "run " + child + ", which the original started, is deleted or archived");
    }

    private Evaluation holds(Evaluate request, ScopeReader.StepText step, String condition) {
        try {
            return new Evaluation.Holds(
                    scopes.holds(request.runId(), condition, TurnText.meant(Json.read(step.input()))), null);
        } catch (ExpressionException e) {
            return new Evaluation.Holds(false, e.getMessage());
        }
    }

    /** Null for a call that does not delegate: its condition was evaluated before. */
    private @Nullable Evaluation delegate(Evaluate request, ScopeReader.StepText step) {
        if (!step.tool().equals(AgentTerms.DELEGATE)) {
            return null;
        }
        JsonNode input = TurnText.meant(Json.read(step.input()));
        String problems = catalog.inputProblems(step.tool(), input);
        return problems.isEmpty()
                ? children.delegate(database.withConnection(c -> reader.starter(c, request.runId())),
                        database.withConnection(c -> reader.caller(c, request.subject())), input)
                : broken("TOOL_INPUT_INVALID", problems);
    }

    private static Evaluation signal(JsonNode input) {
        String name = input.path("name").asString("");
        JsonNode timeout = input.path("timeout_seconds");
        boolean timed = timeout.isNumber() && timeout.asDouble() > 0 && timeout.asDouble() <= MAX_WAIT_SECONDS;
        if (!SIGNAL.matcher(name).matches() || !timed && !timeout.isMissingNode() && !timeout.isNull()) {
            return broken("INPUT_INVALID", "signal.wait needs a `name` (1 to 100 letters, digits, '.', '_' and '-');"
                    + " `timeout_seconds` is a number above 0");
        }
        return new Evaluation.Awaits(input.toString(), name, timed ? seconds(timeout) : null,
                input.path("on_timeout").asString("").equals("continue"));
    }

    private static Duration seconds(JsonNode number) {
        return Duration.ofMillis(Math.round(number.asDouble() * 1000));
    }

    private static Evaluation wait(JsonNode input) {
        if (input.path("seconds").isNumber() && input.path("seconds").asDouble() >= 0) {
            return new Evaluation.Opened(input.toString(), seconds(input.path("seconds")), null);
        }
        try {
            return new Evaluation.Opened(input.toString(), null, Instant.parse(input.path("until").asString()));
        } catch (DateTimeParseException e) {
            return broken("INPUT_INVALID", "wait needs `seconds` (a number ≥ 0) or `until` (RFC 3339 UTC)");
        }
    }

    private Evaluation taskOutput(Evaluate request) {
        TaskText task = database.withConnection(c -> reader.task(c, request.subject()));
        if (task.until() != null) {
            return round(request, task, task.until());
        }
        JsonNode output = task.forEach() == null
                ? scopes.resolve(request.runId(), request.subject(), String.valueOf(task.output()))
                : database.inTransaction(c -> reader.groupOutput(c, request.subject()));
        return new Evaluation.Output(output.toString());
    }

    /** The output of the last round if it ends the rounds. The output of a group may be a template over its tasks. */
    private Evaluation round(Evaluate request, TaskText task, String until) {
        LastRound last = database.withConnection(c -> reader.lastRound(c, request.subject()));
        if (!scopes.ends(request.runId(), request.subject(), until, last)) {
            return new Evaluation.Repeats(task.group() ? 1 : generation(request, last.number() + 1));
        }
        return new Evaluation.Output(task.group() && task.output() != null
                ? scopes.resolve(request.runId(), request.subject(), task.output()).toString()
                : last.output().toString());
    }

    private int generation(Evaluate request, int round) {
        return database.withConnection(c -> reader.generation(c, request.subject(), round));
    }

    private JsonNode runOutput(Evaluate request) {
        String template = database.withConnection(c -> reader.runOutput(c, request.runId()));
        return scopes.resolve(request.runId(), null, template);
    }
}
