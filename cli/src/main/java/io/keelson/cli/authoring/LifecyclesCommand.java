package io.keelson.cli.authoring;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.view.StateMachineText;
import io.keelson.client.Json;
import io.keelson.core.lifecycle.Contract;
import io.keelson.core.lifecycle.Contracts;
import io.keelson.core.lifecycle.LifecycleDocument;
import io.keelson.core.lifecycle.Lifecycles;
import io.keelson.core.lifecycle.Machine;
import io.keelson.core.lifecycle.Projection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "lifecycles", description = {
        "Prints the state machines of runs, agents, tasks and steps: all states and allowed transitions.",
        "Also prints those of the five contracts handoff, gate4, steps, mission and lifecycle, each with the mapping of the engine's states."},
        footer = {
                "  keelson lifecycles run",
                "  keelson lifecycles gate4 --format json",
                "  keelson lifecycles task --format mermaid",
                "  keelson lifecycles --json"})
public final class LifecyclesCommand extends CliCommand {

    /** How a lifecycle is written. */
    enum Format {
        TABLE, JSON, MERMAID
    }

    @Parameters(paramLabel = "NAME", arity = "0..1",
            description = "One of run, agent, task, step, or a contract; all when not given.")
    @Nullable String name;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "table",
            description = "table, json or mermaid; ${DEFAULT-VALUE} when not given.")
    Format format = Format.TABLE;

    @Override
    public Integer call() {
        if (name != null && !LifecycleDocument.names().contains(name)) {
            throw CliException.usage("LIFECYCLE_UNKNOWN", "unknown lifecycle " + name + "; known are "
                    + String.join(", ", LifecycleDocument.names()));
        }
        if (json || format == Format.JSON) {
            print(Json.of(name == null ? Map.of("items", LifecycleDocument.all())
                    : LifecycleDocument.find(name).orElseThrow()));
        } else {
            print(format == Format.MERMAID ? StateMachineText.mermaid(machines()) : tables());
        }
        return ExitCode.OK;
    }

    private List<String> tables() {
        List<String> lines = new ArrayList<>();
        machines().forEach(each -> lines.addAll(StateMachineText.table(each, style())));
        projections().forEach(each -> lines.addAll(StateMachineText.table(each, style())));
        return lines;
    }

    private List<Machine> machines() {
        List<Machine> machines = new ArrayList<>();
        Lifecycles.all().stream().filter(each -> chosen(each.entity())).forEach(each -> machines.add(Machine.of(each)));
        projections().forEach(each -> machines.add(each.machine()));
        return machines;
    }

    private List<Projection<?>> projections() {
        return Contracts.all().stream().filter(each -> chosen(each.name())).map(Contract::projections)
                .<Projection<?>>flatMap(List::stream).toList();
    }

    private boolean chosen(String each) {
        return name == null || each.equals(name);
    }
}
