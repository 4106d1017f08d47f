package io.keelson.cli.common;

import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.client.Json;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.Settings;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Base of all commands: general options and output. */
public abstract class CliCommand implements Callable<Integer> {

    /** The environment of all commands. */
    public interface Environment {

        /** For times that are shown, never for a lease. */
        Clock clock();

        /** The variables that the program was called with. */
        Map<String, String> variables();
    }

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

    /** @throws CliException for settings that cannot be used */
    public final Settings settings() {
        Settings.misspelt(environment()).forEach(this::note);
        try {
            return Settings.load(environment());
        } catch (InvalidSettingsException e) {
            throw CliException.settings(e);
        }
    }

    public final Clock clock() {
        return program().clock();
    }

    public final Map<String, String> environment() {
        return program().variables();
    }

    private Environment program() {
        return (Environment) spec.root().userObject();
    }

    public final Style style() {
        return Terminals.style(noColor, Terminals.interactive(), environment());
    }

    /** How long ago a time was, such as {@code 3m}; empty for null. */
    public final String age(@Nullable Instant since) {
        return since == null ? "" : AmountText.age(Duration.between(since, clock().instant()));
    }

    public final void print(List<String> lines) {
        lines.forEach(out()::println);
        out().flush();
    }

    public final void print(JsonNode document) {
        out().println(document.toPrettyString());
        out().flush();
    }

    /** Prints the document with {@code --json}, otherwise the lines. Creates only the printed form. */
    public final void print(Supplier<JsonNode> document, Supplier<List<String>> lines) {
        if (json) {
            print(document.get());
        } else {
            print(lines.get());
        }
    }

    /** Prints an answer of the server: as the API writes it with {@code --json}, otherwise its lines. */
    public final <T> void show(T answer, Function<? super T, List<String>> lines) {
        print(() -> answer instanceof JsonNode document ? document : Json.document(answer), () -> lines.apply(answer));
    }

    /** Prints an answer of the server: as the API writes it with {@code --json}, otherwise one line about it. */
    public final void show(Object answer, String line) {
        show(answer, any -> List.of(line));
    }

    /** Prints a line, unless {@code --json} is given. */
    public final void say(String line) {
        if (!json) {
            print(List.of(line));
        }
    }

    /**
     * Asks for confirmation at the terminal, unless {@code --yes} is given. Says so when the answer is no.
     *
     * @param question without its question mark
     * @param effect what the command would do, for callers without a terminal
     * @throws CliException without an interactive terminal
     */
    public final boolean confirm(boolean yes, String question, String effect) {
        Boolean answer = yes ? Boolean.TRUE : Terminals.interactive() ? Prompt.ask(out(), question + "?") : null;
        if (answer == null) {
            throw CliException.usage("CONFIRMATION_NEEDED", effect + "; without a terminal, --yes is required");
        }
        if (!answer) {
            note("nothing was changed");
        }
        return answer;
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
