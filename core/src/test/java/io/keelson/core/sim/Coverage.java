package io.keelson.core.sim;

import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.State;
import io.keelson.core.run.Command;
import io.keelson.core.run.Event;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which edges of the lifecycles were taken, and which of them met which fault. */
final class Coverage {
    private final Map<String, Long> edges = new TreeMap<>();
    private final Map<String, EnumMap<Fault, Long>> pairs = new TreeMap<>();
    private final Map<String, Long> decided = new TreeMap<>();

    /** The kind of entity that an event's transition is about. */
    static String entity(Event event) {
        return event.stepId() != null ? "step"
                : event.taskId() != null ? "task" : event.agentId() != null ? "agent" : "run";
    }

    static List<String> allEdges() {
        List<String> all = new ArrayList<>();
        for (Lifecycle<?> lifecycle : Lifecycles.all()) {
            lifecycle.edges().forEach(edge -> all.add(lifecycle.entity() + " " + ((State) (Enum<?>) edge.from()).wire()
                    + " → " + ((State) (Enum<?>) edge.to()).wire()));
        }
        return all;
    }

    private static String edge(Event event) {
        return entity(event) + " " + event.from() + " → " + event.to();
    }

    void decided(Command command) {
        decided.merge(command.getClass().getSimpleName(), 1L, Long::sum);
        if (command instanceof Command.Evaluated evaluated) {
            decided.merge(evaluated.evaluation().getClass().getSimpleName(), 1L, Long::sum);
        }
    }

    /** How many commands of a type were decided. */
    long count(String type) {
        return decided.getOrDefault(type, 0L);
    }

    /** Counts an occurrence that is no command. */
    void happened(String what) {
        decided.merge(what, 1L, Long::sum);
    }

    void committed(Collection<Event> events) {
        events.stream().filter(event -> event.to() != null).forEach(event -> edges.merge(edge(event), 1L, Long::sum));
    }

    void met(Collection<Event> events, Set<Fault> faults) {
        for (Event event : events) {
            if (event.to() != null && !faults.isEmpty()) {
                Map<Fault, Long> own = pairs.computeIfAbsent(edge(event), key -> new EnumMap<>(Fault.class));
                faults.forEach(fault -> own.merge(fault, 1L, Long::sum));
            }
        }
    }

    synchronized void add(Coverage other) {
        other.edges.forEach((edge, count) -> edges.merge(edge, count, Long::sum));
        other.decided.forEach((name, count) -> decided.merge(name, count, Long::sum));
        other.pairs.forEach((edge, faults) -> faults.forEach((fault, count) -> pairs
                .computeIfAbsent(edge, key -> new EnumMap<>(Fault.class)).merge(fault, count, Long::sum)));
    }

    Set<String> edges() {
        return edges.keySet();
    }

    /** Simple names of the commands and evaluations that were decided. */
    Set<String> decided() {
        return decided.keySet();
    }

    synchronized long commands() {
        return decided.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Pairs of an edge that was taken and a fault that it never met. */
    Set<String> pairsMissed() {
        Set<String> missed = new TreeSet<>();
        for (String edge : edges.keySet()) {
            for (Fault fault : Fault.values()) {
                if (!pairs.getOrDefault(edge, new EnumMap<>(Fault.class)).containsKey(fault)) {
                    missed.add(edge + " × " + fault);
                }
            }
        }
        return missed;
    }

    int pairsMet() {
        return pairs.values().stream().mapToInt(Map::size).sum();
    }

    /** How often each edge was taken, and with which faults. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        edges.forEach((edge, count) -> text.append(edge).append(": ").append(count).append(' ')
                .append(pairs.getOrDefault(edge, new EnumMap<>(Fault.class))).append('\n'));
        return text.append(decided).toString();
    }
}
