package io.keelson.core.lifecycle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lifecycles as published in JSON: maps, lists, texts and booleans. A contract's document is its run's machine with
 * the projection, and has the machines of its tasks or steps under {@code machines}. The run lifecycle contract also
 * has its {@code errors}.
 */
public final class LifecycleDocument {

    private static final Map<String, Map<String, Object>> BY_NAME = byName();

    private LifecycleDocument() {}

    /** The canonical ones first. */
    public static List<Map<String, Object>> all() {
        return List.copyOf(BY_NAME.values());
    }

    /** The names under which they are published. */
    public static List<String> names() {
        return List.copyOf(BY_NAME.keySet());
    }

    /** @param name of a canonical entity or of a contract */
    public static Optional<Map<String, Object>> find(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    private static Map<String, Map<String, Object>> byName() {
        Map<String, Map<String, Object>> documents = new LinkedHashMap<>();
        Lifecycles.all().forEach(each -> documents.put(each.entity(), machine(Machine.of(each))));
        Contracts.all().forEach(each -> documents.put(each.name(), contract(each)));
        return documents;
    }

    private static Map<String, Object> contract(Contract contract) {
        List<Map<String, Object>> machines = new ArrayList<>();
        contract.projections().forEach(each -> machines.add(projected(each)));
        Map<String, Object> document = machines.removeFirst();
        document.put("title", contract.title());
        document.put("machines", machines);
        if (contract == Contracts.LIFECYCLE) {
            document.put("errors", Arrays.stream(LifecycleError.values()).map(LifecycleDocument::error).toList());
        }
        return document;
    }

    private static Map<String, Object> error(LifecycleError error) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("code", error.name());
        document.put("http_status", error.httpStatus());
        document.put("when", error.when());
        document.put("covers", error.codes());
        return document;
    }

    private static <S extends Enum<S> & State> Map<String, Object> projected(Projection<S> projection) {
        Map<String, Object> document = machine(projection.machine());
        document.put("projection", projection.rows().stream().map(LifecycleDocument::row).toList());
        return document;
    }

    private static Map<String, Object> row(Projection.Row<? extends State> row) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("canonical", row.canonical().wire());
        if (row.when() != Circumstance.USUAL) {
            document.put("when", row.when().wire());
        }
        document.put("state", row.state());
        document.put("new_item", row.newItem());
        return document;
    }

    private static Map<String, Object> machine(Machine machine) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("name", machine.name());
        document.put("entity", machine.entity());
        document.put("initial", machine.initial());
        document.put("states", machine.states().stream().map(LifecycleDocument::state).toList());
        document.put("transitions", machine.transitions().stream().map(LifecycleDocument::transition).toList());
        return document;
    }

    private static Map<String, Object> state(Machine.Node state) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("name", state.name());
        document.put("type", state.type().wire());
        document.put("terminal", state.type() == StateType.TERMINAL);
        return document;
    }

    private static Map<String, Object> transition(Machine.Transition transition) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("from", transition.from());
        document.put("to", transition.to());
        document.put("by", transition.by());
        if (transition.event() != null) {
            document.put("event", transition.event());
        }
        return document;
    }
}
