package io.keelson.cli.view;

import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Machine;
import io.keelson.core.lifecycle.Projection;
import io.keelson.core.lifecycle.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** State machines as text. */
public final class StateMachineText {

    private StateMachineText() {}

    /** The transitions of a machine, after a line with its name and before an empty line. */
    public static List<String> table(Machine machine, Style style) {
        boolean events = machine.transitions().stream().anyMatch(each -> each.event() != null);
        Table table = events ? new Table("FROM", "TO", "WHEN", "EVENT") : new Table("FROM", "TO", "WHEN");
        for (Machine.Transition each : machine.transitions()) {
            if (each.event() == null) {
                table.row(each.from(), each.to(), each.by());
            } else {
                table.row(each.from(), each.to(), each.by(), each.event());
            }
        }
        return section(title(machine) + ", starts as " + machine.initial(), table, style);
    }

    /** How the canonical states look in a contract. */
    public static <S extends Enum<S> & State> List<String> table(Projection<S> projection, Style style) {
        Machine machine = projection.machine();
        Table table = new Table("CANONICAL", machine.name().toUpperCase(Locale.ROOT), "WHEN");
        projection.rows().forEach(row -> table.row(row.canonical().wire(), row.state(),
                row.when() == Circumstance.USUAL ? row.newItem() ? "a new item" : "" : row.when().wire()));
        return section("canonical " + machine.entity() + " in " + machine.name(), table, style);
    }

    /** One Mermaid diagram; several machines stand in it side by side. */
    public static List<String> mermaid(List<Machine> machines) {
        List<String> lines = new ArrayList<>(List.of("stateDiagram-v2"));
        if (machines.size() == 1) {
            arrows(machines.getFirst(), "    ", "", lines);
        } else {
            machines.forEach(each -> framed(each, lines));
        }
        return lines;
    }

    private static void framed(Machine machine, List<String> lines) {
        String id = title(machine).replace(' ', '_');
        lines.add("    state " + id + " {");
        machine.states().forEach(state -> lines.add("        " + id + "_" + state.name() + ": " + state.name()));
        arrows(machine, "        ", id + "_", lines);
        lines.add("    }");
    }

    private static void arrows(Machine machine, String indent, String prefix, List<String> lines) {
        lines.add(indent + "[*] --> " + prefix + machine.initial());
        for (Machine.Transition each : machine.transitions()) {
            lines.add(indent + prefix + each.from() + " --> " + prefix + each.to() + ": " + each.by());
        }
        machine.states().stream().filter(state -> machine.immutable(state.name()))
                .forEach(state -> lines.add(indent + prefix + state.name() + " --> [*]"));
    }

    private static String title(Machine machine) {
        return machine.name().equals(machine.entity()) ? machine.name() : machine.name() + " " + machine.entity();
    }

    private static List<String> section(String title, Table table, Style style) {
        List<String> lines = new ArrayList<>(List.of(style.bold(title)));
        lines.addAll(table.lines(style));
        lines.add("");
        return lines;
    }
}
