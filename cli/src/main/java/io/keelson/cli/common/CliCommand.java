package io.keelson.cli.common;

import io.keelson.cli.view.Style;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.Settings;
import io.keelson.server.app.StartupException;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Base of all commands: general options and output. */
public abstract class CliCommand implements Callable<Integer> {

    @Spec
    public CommandSpec spec;

    @Option(names = "--json", description = "Print one JSON document on standard output instead of text.")
    public boolean json;

    @Option(names = "--no-color", description = "No colours; NO_COLOR in the environment does the same.")
    boolean noColor;

    @Option(names = "--debug", description = "Show stack traces of errors.")
    public boolean debug;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    boolean help;

    @Override
    public abstract Integer call() throws Exception;

    public final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    public final Settings settings() throws InvalidSettingsException {
        Settings.misspelt(environment()).forEach(this::note);
        return Settings.load(environment());
    }

    /** The way to the running server, for commands that only read. */
    public final ServerConnection link() throws InvalidSettingsException, StartupException {
        return link(false);
    }

    /**
     * The way to the running server.
     *
     * @param change whether something is to be changed: where no server runs, one that only answers is then started
     */
    public final ServerConnection link(boolean change) throws InvalidSettingsException, StartupException {
        return ServerConnection.open(settings(),
                change ? ServerConnection.Work.NONE : ServerConnection.Work.OF_RUNNING_SERVER, this::news);
    }

    public final Clock clock() {
        return program().clock();
    }

    public final Map<String, String> environment() {
        return program().variables();
    }

    private CliEnvironment program() {
        return (CliEnvironment) spec.root().userObject();
    }

    public final Style style() {
        return Terminals.style(noColor, Terminals.interactive(), environment());
    }

    public final void print(List<String> lines) {
        lines.forEach(out()::println);
        out().flush();
    }

    public final void print(JsonNode document) {
        out().println(document.toPrettyString());
        out().flush();
    }

    /** Prints a progress note, only on an interactive terminal. */
    public final void news(String line) {
        if (Terminals.interactive() && !json) {
            note(style().dim(line));
        }
    }

    /** Prints a note for people, beside the result. */
    public final void note(String line) {
        err().println(line);
        err().flush();
    }
}
