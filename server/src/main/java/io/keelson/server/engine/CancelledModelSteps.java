package io.keelson.server.engine;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.StepRow;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.LostAnswer;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.execute.RecordedRequests;
import io.keelson.server.engine.store.RunStore;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names the model answers that cancelled steps leave behind. A live server names the answers of its own steps. Two
 * leases after the cancellation, this node reads once the steps whose server was lost. If this node ends earlier, they
 * stay unnamed.
 */
final class CancelledModelSteps {
    private static final Logger LOG = LoggerFactory.getLogger(CancelledModelSteps.class);
    private static final String TOOLS = "model.";

    private final Database database;
    private final RunStore store;
    private final Consumer<Command> commands;

    CancelledModelSteps(Database database, RunStore store, Consumer<Command> commands) {
        this.database = database;
        this.store = store;
        this.commands = commands;
    }

    /** @param held whether a lease ended with the step: then no event has named any of its requests */
    record Step(UUID id, boolean held) {}

    /** The steps that a change cancels and that may have sent requests under a lease without a result. */
    static List<Step> in(ChangeSet changes) {
        List<StepRow> cancelled = changes.steps().stream().filter(step -> step.state() == StepState.CANCELLED
                && step.leaseEpoch() > step.resultEpoch() && step.spec().tool().startsWith(TOOLS)).toList();
        if (cancelled.isEmpty()) {
            return List.of();
        }
        List<UUID> held = changes.stopped().stream().map(ChangeSet.Lost::stepId).toList();
        return cancelled.stream().map(step -> new Step(step.id(), held.contains(step.id()))).toList();
    }

    /** Returns at once. */
    void look(List<Step> steps) {
        Thread.ofVirtual().name("cancelled-model-steps").start(() -> {
            try {
                name(steps);
            } catch (RuntimeException e) {
                LOG.warn("lost answers of {} cancelled steps are not named", steps.size(), e);
            }
        });
    }

    private void name(List<Step> steps) {
        Map<UUID, Boolean> held = steps.stream().collect(Collectors.toMap(Step::id, Step::held));
        for (RunStore.Unreported each : database.withConnection(c -> store.unreported(c, held.keySet()))) {
            List<LostAnswer> lost = RecordedRequests.in(each.details()).stream()
                    .filter(request -> Boolean.TRUE.equals(held.get(each.stepId())) || request.responseId() != null)
                    .map(LostAnswer::withoutResponseId).toList();
            if (!lost.isEmpty()) {
                commands.accept(new Command.Release(each.runId(), each.stepId(), each.epoch(), null, lost,
                        Actor.RECONCILER));
            }
        }
    }
}
