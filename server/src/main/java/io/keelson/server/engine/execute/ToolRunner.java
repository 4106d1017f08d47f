package io.keelson.server.engine.execute;

import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.Effects;
import io.keelson.core.run.TraceParent;
import io.keelson.core.run.TurnAnswer;
import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.SafeText;
import io.keelson.server.engine.execute.Scopes.ToolInput;
import io.keelson.server.engine.live.LiveTexts;
import io.keelson.server.engine.tool.CallDeadline;
import io.keelson.server.engine.tool.Execution;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.StepLog;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.ToolUsage;
import io.keelson.server.tenant.secret.Redaction;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Calls a built-in tool for one execution, after resolving and checking its input. */
public final class ToolRunner {
    private static final Duration MCP_TIMEOUT = Duration.ofSeconds(30);

    private final ToolCatalog catalog;
    private final Scopes scopes;
    private final ArtifactIntake artifacts;
    private final Function<StepExecution, StepLog> logs;
    private final Tracing tracing;
    private final LiveTexts texts;
    private final RecordedAnswers recorded;
    private final AnnouncedEffects announced;

    /** The announced tools of workers. */
    @FunctionalInterface
    public interface AnnouncedEffects {

        /** The effects of a tool's calls; null where no worker says it. */
        @Nullable Effects of(UUID workspace, String tool);
    }

    /** @param texts live texts of the executions, for readers */
    public ToolRunner(ToolCatalog catalog, Scopes scopes, ArtifactIntake artifacts,
            Function<StepExecution, StepLog> logs,
            Tracing tracing, LiveTexts texts, RecordedAnswers recorded, AnnouncedEffects announced) {
        this.announced = announced;
        this.catalog = catalog;
        this.scopes = scopes;
        this.artifacts = artifacts;
        this.logs = logs;
        this.tracing = tracing;
        this.texts = texts;
        this.recorded = recorded;
    }

    /**
     * The turn in an output of a task's step; null if absent.
     *
     * @param output as {@link TurnText}
     */
    public @Nullable TurnAnswer turn(UUID workspace, UUID task, JsonNode output) {
        return recorded.of(workspace, task, TurnText.of(output, tool -> terms(workspace, tool)));
    }

    /**
     * How an agent's call of the tool is executed. A tool of workers is executed as long as one of them answers. A tool of an MCP
     * server that this node does not know, or does not know yet, may destroy.
     */
    private TurnText.Terms terms(UUID workspace, String tool) {
        return catalog.find(workspace, tool)
                .map(found -> new TurnText.Terms(found.spec().defaultTimeout(), found.spec().effects()))
                .orElseGet(() -> tool.startsWith(ToolSpec.MCP) ? new TurnText.Terms(MCP_TIMEOUT, Effects.DESTRUCTIVE)
                        : new TurnText.Terms(StepSpec.OF_TASK, announced.of(workspace, tool)));
    }

    /** Whether executors of servers run the tool: built in, or a workspace's own that a server calls. */
    public boolean knows(String tool) {
        return catalog.find(tool).isPresent() || tool.startsWith(ToolSpec.MCP);
    }

    /** True for a built-in tool whose calls compute or read and have no effect: steps of such tools can be one chain. */
    public boolean chains(String tool) {
        return catalog.find(tool).map(Tool::spec).filter(spec -> spec.effects() == Effects.READ
                && spec.slot() == SlotKind.COMPUTING && !spec.engineOwned()).isPresent();
    }

    /** The kind of slot that a call of the tool uses. */
    public SlotKind slot(String tool) {
        return catalog.find(tool).map(found -> found.spec().slot())
                .orElse(tool.startsWith(ToolSpec.MCP) ? SlotKind.WAITING : SlotKind.COMPUTING);
    }

    /**
     * @param input from {@link #input}
     * @param running as {@link ToolCall#execution}
     * @param recorded records the lease of the execution before the call leaves a trace; false if the lease is lost
     * @throws ToolFailure the tool's own, {@code TOOL_CRASHED}, and for inputs that break the tool's schema
     */
    ToolResult run(StepExecution execution, ToolInput input, Execution running, BooleanSupplier recorded)
            throws ToolFailure, InterruptedException {
        Redaction redaction = input.redaction();
        StepLog lines = logs.apply(execution);
        try (ExecutionLog log = new ExecutionLog(line -> {
            if (recorded.getAsBoolean()) {
                lines.line(line);
            }
        }, redaction, () -> texts.open(execution.stepId(), execution.leaseEpoch()))) {
            ToolResult result = catalog.execute(execution.tool(), call(execution, input, log, running, recorded));
            return redaction.none() ? result
                    : new ToolResult(redaction.json(result.output()), result.usage(), result.artifacts(),
                            result.proposals().stream().map(each -> ProposalTexts.redacted(each, redaction)).toList());
        } catch (ToolFailure e) {
            throw redaction.none() ? e : e.saying(redaction.text(String.valueOf(e.getMessage())));
        } catch (HandBackException e) {
            HandBackException.Busy busy = e.busy();
            throw busy == null ? e
                    : new HandBackException(busy, e.call(), redaction.text(String.valueOf(e.getMessage())));
        } catch (DocumentMemory.FullException e) {
            throw ToolFailure.infrastructure("ANSWER_NOT_READ", execution.tool() + ": " + e.getMessage());
        } catch (RuntimeException e) {
            if (databaseUnavailable(e)) {
                throw e;
            }
            throw ToolFailure.infrastructure("TOOL_CRASHED",
                    SafeText.clean(redaction.text(execution.tool() + " failed unexpectedly: " + e)));
        }
    }

    /** True when the database did not answer, or the pool had no connection left. */
    static boolean databaseUnavailable(RuntimeException e) {
        Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
        return cause instanceof SqlFailure failure && failure.unavailable();
    }

    private ToolCall call(StepExecution execution, ToolInput input, StepLog log, Execution running,
            BooleanSupplier recorded) {
        ArtifactOwner owner = new ArtifactOwner(execution.workspaceId(), execution.runId(), execution.stepId(),
                execution.attempt(), execution.leaseEpoch());
        Redaction redaction = input.redaction();
        TraceParent trace = tracing.ofStep(execution.trace(), execution.stepId(), execution.leaseEpoch());
        return new ToolCall(execution.workspaceId(), execution.runId(), execution.taskId(), execution.stepId(),
                execution.runName(), input.json(), execution.attempt(), execution.deferred(), execution.leaseEpoch(),
                execution.effectKey(),
                CallDeadline.after(execution.timeout()), trace == null ? null : trace.text(),
                log, redaction,
                (name, type, content) -> {
                    if (!recorded.getAsBoolean()) {
                        throw new IOException("the step has lost its lease");
                    }
                    return artifacts.take(owner, redaction.text(name), redaction.text(type),
                            redaction.stream(content));
                },
                running);
    }

    /**
     * The step's input with its expressions resolved.
     *
     * @param chain that the step belongs to; null if absent
     * @throws ToolFailure when it cannot be resolved
     * @throws InterruptedException if the chain has lost its lease
     */
    ToolInput input(StepExecution execution, @Nullable ChainScope chain) throws ToolFailure, InterruptedException {
        try {
            if (chain != null) {
                return new ToolInput(scopes.resolveInput(execution.workspaceId(), execution.runId(),
                        execution.taskId(), execution.input(), chain), Redaction.NONE);
            }
            ToolInput input = scopes.resolveInput(execution.workspaceId(), execution.runId(), execution.taskId(),
                    execution.input());
            return execution.model() != null && input.json() instanceof ObjectNode turn
                    ? new ToolInput(turn.deepCopy().put("model", execution.model()), input.redaction())
                    : input;
        } catch (ExpressionException e) {
            throw new ToolFailure(e.code(), Scopes.errorClass(e), "the step's input: " + e.getMessage())
                    .spending(ToolUsage.NOT_MADE);
        }
    }
}
