package io.keelson.cli;

import io.keelson.GeneratedDocs;
import io.keelson.cli.view.StateMachineText;
import io.keelson.core.lifecycle.Circumstance;
import io.keelson.core.lifecycle.Contract;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.LifecycleError;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.Machine;
import io.keelson.core.lifecycle.Projection;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/reference/lifecycles.md} is what the code says. */
class LifecyclesDocTest {

    private static final Map<Circumstance, String> WHEN = Map.of(Circumstance.USUAL, "", Circumstance.LATER_ATTEMPT,
            "in later attempts of the task", Circumstance.WAITS_FOR_TIMER,
            "while all its open steps wait for their retries", Circumstance.WAITS_FOR_HUMAN,
            "while all its open steps wait for a person");

    @Test
    void theCanonicalMachines() {
        GeneratedDocs.check("docs/reference/lifecycles.md", "canonical", Lifecycles.all().stream().map(each -> {
            Machine machine = Machine.of(each);
            return "### " + capital(each.entity()) + "\n\n" + mermaid(machine) + "\n" + states(machine) + "\n"
                    + table(List.of("from", "to", "by", "event"), machine.transitions().stream()
                            .map(t -> List.of(code(t.from()), code(t.to()), t.by(), code(String.valueOf(t.event()))))
                            .toList());
        }).collect(Collectors.joining("\n")));
    }

    @Test
    void runsInEveryVocabulary() {
        List<String> head = new ArrayList<>(List.of("canonical"));
        Contracts.all().forEach(each -> head.add(code(each.name())));
        GeneratedDocs.check("docs/reference/lifecycles.md", "runs", table(head, Lifecycles.RUN.states().stream()
                .map(state -> Stream.concat(Stream.of(code(state.wire())),
                        Contracts.all().stream().map(each -> inWords(each.run(), state))).toList())
                .toList()));
    }

    @Test
    void theContracts() {
        GeneratedDocs.check("docs/contracts/lifecycles.md", "contracts",
                Contracts.all().stream().map(LifecyclesDocTest::contract)
                        .collect(Collectors.joining("\n")));
    }

    @Test
    void theErrorsOfTheRunLifecycle() {
        GeneratedDocs.check("docs/contracts/lifecycles.md", "errors",
                table(List.of("error", "HTTP", "when a run fails because", "codes"),
                        Arrays.stream(LifecycleError.values()).map(each -> List.of(code(each.name()),
                                String.valueOf(each.httpStatus()), each.when(),
                                each.codes().stream().map(LifecyclesDocTest::code).collect(Collectors.joining(", "))))
                                .toList()));
    }

    private static String contract(Contract contract) {
        StringBuilder text = new StringBuilder("### `" + contract.name() + "`: " + contract.title() + "\n");
        for (Projection<?> each : contract.projections()) {
            Machine machine = each.machine();
            text.append("\n#### ").append(capital(machine.entity())).append(" in `").append(machine.name())
                    .append("`\n\n").append(mermaid(machine)).append('\n').append(states(machine)).append('\n')
                    .append(table(List.of("from", "to", "by"), machine.transitions().stream()
                            .map(t -> List.of(code(t.from()), code(t.to()), t.by())).toList()));
            if (each != contract.run()) {
                text.append('\n').append(projection(each));
            }
        }
        return text.toString();
    }

    private static <S extends Enum<S> & State> String projection(Projection<S> projection) {
        return table(List.of("canonical", code(projection.machine().name()), "when"), projection.rows().stream()
                .map(row -> List.of(code(row.canonical().wire()), code(row.state()),
                        WHEN.get(row.when())))
                .toList());
    }

    private static String inWords(Projection<RunState> projection, RunState state) {
        return projection.rows().stream().filter(row -> row.canonical() == state)
                .map(row -> code(row.state()) + switch (row.when()) {
                    case USUAL, LATER_ATTEMPT -> row.newItem() ? ", a new item" : "";
                    case WAITS_FOR_TIMER -> " ¹";
                    case WAITS_FOR_HUMAN -> " ²";
                    case NOT_BEGUN -> " ³";
                }).collect(Collectors.joining(", "));
    }

    private static String states(Machine machine) {
        return "Begins " + code(machine.initial()) + ". " + Stream.of("pending", "running", "paused", "terminal")
                .map(type -> machine.states().stream().filter(state -> state.type().wire().equals(type))
                        .map(state -> code(state.name())).collect(Collectors.joining(", ", capital(type) + ": ", "")))
                .filter(line -> !line.endsWith(": ")).collect(Collectors.joining(". ", "", ".\n"));
    }

    private static String mermaid(Machine machine) {
        return "```mermaid\n" + String.join("\n", StateMachineText.mermaid(List.of(machine))) + "\n```\n";
    }

    private static String table(List<String> head, List<List<String>> rows) {
        StringBuilder text = new StringBuilder();
        Stream.concat(Stream.of(head, head.stream().map(each -> "---").toList()), rows.stream())
                .forEach(row -> text.append("| ").append(String.join(" | ", row)).append(" |\n"));
        return text.toString();
    }

    private static String code(String text) {
        return "`" + text + "`";
    }

    private static String capital(String word) {
        return Character.toUpperCase(word.charAt(0)) + word.substring(1);
    }
}
