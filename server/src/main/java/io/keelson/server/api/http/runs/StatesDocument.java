package io.keelson.server.api.http.runs;

import io.keelson.core.decide.RunRow;
import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contract;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.Machine;
import io.keelson.core.lifecycle.Projection;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.StateType;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.StatusDocument;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A run's state in every vocabulary, with the number of its tasks and steps in each state that occurs. */
final class StatesDocument {

    /** The number of tasks or steps in the same state and circumstance. */
    private record Group<S>(S state, Circumstance when, long count) {}

    private StatesDocument() {}

    static ObjectNode of(ObjectNode row) {
        RunState run = RunState.of(row.get("state").stringValue());
        List<Group<TaskState>> tasks = groups(row.get("tasks"), group -> TaskState.of(group.get("state").stringValue()),
                StatesDocument::ofTask);
        List<Group<StepState>> steps = groups(row.get("steps"), group -> StepState.of(group.get("state").stringValue()),
                group -> Circumstance.USUAL);
        boolean acceptance = row.get("gate").stringValue().equals(RunRow.Gate.ACCEPTANCE.wire());
        Circumstance start = run.type() == StateType.PAUSED ? StatusDocument.start(row) : Circumstance.USUAL;
        Circumstance circumstance = acceptance ? Circumstance.WAITS_FOR_HUMAN
                : start == Circumstance.NOT_BEGUN ? start
                        : Circumstance.ofRun(row.get("dispatched").booleanValue(),
                                tasks.stream().map(Group::state).collect(Collectors.toSet()),
                                steps.stream().map(Group::state).collect(Collectors.toSet()));
        ObjectNode document = Json.object();
        document.set("run_id", row.get("run_id"));
        document.set("attempt_number", row.get("attempt_number"));
        document.put("circumstance", circumstance.wire());
        ObjectNode canonical = document.putObject("canonical").put("run", run.wire());
        canonical.set("tasks", counts(Machine.of(Lifecycles.TASK), tasks, group -> group.state().wire()));
        canonical.set("steps", counts(Machine.of(Lifecycles.STEP), steps, group -> group.state().wire()));
        ObjectNode contracts = document.putObject("contracts");
        Contracts.all().forEach(each -> contracts.set(each.name(), contract(each, run, circumstance, tasks, steps)));
        StatusDocument.errorOf(row).ifPresent(error -> contracts.withObject("/" + Contracts.LIFECYCLE.name())
                .put("error_code", error.name()).put("http_status", error.httpStatus()));
        return document;
    }

    private static Circumstance ofTask(JsonNode group) {
        return Circumstance.ofTask(TaskState.of(group.get("state").stringValue()), group.get("tried").booleanValue(),
                group.get("dispatched").booleanValue(), group.get("open").valueStream()
                        .map(state -> StepState.of(state.stringValue())).collect(Collectors.toSet()));
    }

    private static ObjectNode contract(Contract contract, RunState run, Circumstance circumstance,
            List<Group<TaskState>> tasks, List<Group<StepState>> steps) {
        ObjectNode document = Json.object().put("run", contract.run().of(run, circumstance));
        if (contract.task() != null) {
            document.set("tasks", counts(contract.task(), tasks));
        }
        if (contract.step() != null) {
            document.set("steps", counts(contract.step(), steps));
        }
        return document;
    }

    private static <S extends Enum<S> & State> ObjectNode counts(Projection<S> projection, List<Group<S>> groups) {
        return counts(projection.machine(), groups, group -> projection.of(group.state(), group.when()));
    }

    private static <S> ObjectNode counts(Machine machine, List<Group<S>> groups, Function<Group<S>, String> name) {
        Map<String, Long> counts = new HashMap<>();
        groups.forEach(group -> counts.merge(name.apply(group), group.count(), Long::sum));
        ObjectNode document = Json.object();
        machine.states().stream().map(Machine.Node::name).filter(counts::containsKey)
                .forEach(state -> document.put(state, counts.get(state)));
        return document;
    }

    private static <S> List<Group<S>> groups(JsonNode rows, Function<JsonNode, S> state,
            Function<JsonNode, Circumstance> when) {
        return rows.valueStream()
                .map(row -> new Group<>(state.apply(row), when.apply(row), row.get("count").longValue())).toList();
    }
}
