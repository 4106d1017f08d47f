package io.keelson.cli;

import io.keelson.cli.view.Table;
import io.keelson.core.lifecycle.Edge;
import io.keelson.core.lifecycle.Lifecycle;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.State;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "lifecycles", description = "Prints the state machines of runs, agents, tasks and steps: what the "
        + "engine allows, and nothing else.", footerHeading = "%nExamples:%n",
        footer = {
                "  keelson lifecycles run",
                "  keelson lifecycles task --format mermaid",
                "  keelson lifecycles --json"})
final class LifecyclesCommand extends CliCommand {

    /** How a lifecycle is written. */
    enum Format {
        TABLE, JSON, MERMAID
    }

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "One of run, agent, task, step; all without it.")
    @Nullable String name;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "table",
            description = "table, json or mermaid; ${DEFAULT-VALUE} when not given.")
    Format format = Format.TABLE;

    @Override
    public Integer call() {
        List<Lifecycle<?>> chosen = Lifecycles.all().stream()
                .filter(each -> name == null || each.entity().equals(name)).toList();
        if (chosen.isEmpty()) {
            throw CliException.usage("LIFECYCLE_UNKNOWN", "there is no lifecycle " + name
                    + "; there are run, agent, task and step");
        }
        if (json || format == Format.JSON) {
            ArrayNode items = JsonNodeFactory.instance.arrayNode();
            chosen.forEach(each -> items.add(document(each)));
            print(name == null ? JsonNodeFactory.instance.objectNode().set("items", items) : items.get(0));
        } else {
            List<String> lines = new ArrayList<>();
            chosen.forEach(each -> lines.addAll(format == Format.MERMAID ? mermaid(each) : table(each)));
            print(lines);
        }
        return ExitCode.OK;
    }

    private <S extends Enum<S> & State> List<String> table(Lifecycle<S> lifecycle) {
        Table table = new Table("FROM", "TO", "WHEN", "EVENT");
        for (Edge<S> edge : lifecycle.edges()) {
            table.row(edge.from().wire(), edge.to().wire(), edge.by(), edge.event());
        }
        List<String> lines = new ArrayList<>();
        lines.add(style().bold(lifecycle.entity()) + ", begins " + lifecycle.initial().wire());
        lines.addAll(table.lines(0, style()));
        lines.add("");
        return lines;
    }

    private static <S extends Enum<S> & State> List<String> mermaid(Lifecycle<S> lifecycle) {
        List<String> lines = new ArrayList<>(List.of("stateDiagram-v2", "    [*] --> " + lifecycle.initial().wire()));
        for (Edge<S> edge : lifecycle.edges()) {
            lines.add("    " + edge.from().wire() + " --> " + edge.to().wire() + ": " + edge.by());
        }
        lifecycle.states().stream().filter(state -> lifecycle.targets(state).isEmpty())
                .forEach(state -> lines.add("    " + state.wire() + " --> [*]"));
        return lines;
    }

    private static <S extends Enum<S> & State> ObjectNode document(Lifecycle<S> lifecycle) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("name", lifecycle.entity())
                .put("initial", lifecycle.initial().wire());
        for (S state : lifecycle.states()) {
            json.withArrayProperty("states").addObject().put("name", state.wire()).put("type", state.type().wire())
                    .put("terminal", state.terminal());
        }
        for (Edge<S> edge : lifecycle.edges()) {
            json.withArrayProperty("transitions").addObject().put("from", edge.from().wire())
                    .put("to", edge.to().wire()).put("by", edge.by()).put("event", edge.event());
        }
        return json;
    }
}
