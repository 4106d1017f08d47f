package io.keelson.server.engine.execute;

import io.keelson.server.base.expr.References;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.EndedSteps;
import io.keelson.server.engine.store.read.ScopeReader.Wanted;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The scope of expressions in a chain's steps: outputs of its ended steps from memory, all else from the database. The values that
 * do not change while a task is at work are read once. Used by one thread.
 */
final class ChainScope {
    private static final Wanted BASE = new Wanted(List.of(), false, List.of(), false, false, false, false, false,
            false, false);

    /** Reads a scope from the database. */
    interface Reader {

        /** @param ended steps whose ends may not be in the database yet */
        ObjectNode read(Wanted wanted, EndedSteps ended);
    }

    private final EndedSteps ended = new EndedSteps();
    private final BooleanSupplier record;
    private final BooleanSupplier create;
    private @Nullable ObjectNode base;

    /**
     * @param record records the ends of all steps so far; false if the lease is lost
     * @param create creates the run if it is not in the database; false if the lease is lost
     */
    ChainScope(BooleanSupplier record, BooleanSupplier create) {
        this.record = record;
        this.create = create;
    }

    /** A step has ended, with that output, and the next one begins. */
    void add(StepExecution step, String json, StepExecution next) {
        ended.add(step.name(), json);
        ended.next(next.name());
    }

    /** @throws InterruptedException if the lease is lost */
    ObjectNode of(References named, Wanted wanted, Reader reader) throws InterruptedException {
        if (ended.isEmpty()) {
            return read(reader, wanted);
        }
        if (wanted.output() || wanted.transcript() || !ended.storable(named.steps(), named.allSteps())) {
            if (!record.getAsBoolean()) {
                throw new InterruptedException("the chain has lost its lease");
            }
            return reader.read(wanted, new EndedSteps());
        }
        if (wanted.allSteps() || wanted.allTasks() || wanted.previous() || wanted.original()
                || !wanted.tasks().isEmpty()
                || !ended.containsAll(named.steps())) {
            return read(reader, wanted);
        }
        ObjectNode scope = readsOthers(named) ? base(reader).deepCopy() : Json.object();
        scope.set("steps", ended.scope(named.steps()));
        return scope;
    }

    private ObjectNode read(Reader reader, Wanted wanted) throws InterruptedException {
        if (!create.getAsBoolean()) {
            throw new InterruptedException("the chain has lost its lease");
        }
        return reader.read(wanted, ended);
    }

    private ObjectNode base(Reader reader) throws InterruptedException {
        if (base == null) {
            base = read(reader, BASE);
        }
        return base;
    }

    private static boolean readsOthers(References named) {
        return named.all() || named.allInputs() || !named.inputs().isEmpty() || !named.others().isEmpty()
                || !named.secrets().isEmpty();
    }
}
