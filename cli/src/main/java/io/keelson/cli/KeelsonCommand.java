package io.keelson.cli;

import io.keelson.cli.common.CliCommand;
import io.keelson.server.app.KeelsonVersion;
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(name = "keelson", versionProvider = KeelsonCommand.Version.class, synopsisSubcommandLabel = "COMMAND",
        description = "Durable runs for AI agents: plans of tasks that survive crashes, restarts and slow approvals.",
        footerHeading = "%nExit codes:%n", footer = {"  0 done, or the run completed", "  1 it failed",
                "  2 wrong usage, wrong mission or wrong settings", "  3 the run was cancelled",
                "  4 the run waits for a person", "  5 the run completed with failures",
                "  124 --timeout is over, 130 interrupted", "",
                "Examples:", "  keelson run examples/repository-report.yaml --input path=.", "  keelson run --help"})
final class KeelsonCommand implements Runnable, CliCommand.Environment {

    private final Clock clock;
    private final Map<String, String> variables;

    @Spec
    CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "Show the version.")
    boolean version;

    KeelsonCommand(Clock clock, Map<String, String> variables) {
        this.clock = clock;
        this.variables = Map.copyOf(variables);
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public Map<String, String> variables() {
        return variables;
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** The versions of Keelson and Java. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"keelson " + KeelsonVersion.current() + ", Java " + Runtime.version().feature()};
        }
    }
}
