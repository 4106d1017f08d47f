package io.keelson.cli;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ErrorReport;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.Suggestions;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/** The command line as a function of its arguments and its environment. */
public final class Cli {

    private Cli() {}

    /** @return the exit code */
    static int run(PrintWriter out, PrintWriter err, Clock clock, Map<String, String> environment,
            String... arguments) {
        return set(Sections.addCalled(new CommandLine(new KeelsonCommand(clock, environment)), arguments))
                .setOut(out).setErr(err).execute(arguments);
    }

    /** With all commands. */
    public static CommandLine commandLine(Clock clock, Map<String, String> environment) {
        return set(Sections.addAll(new CommandLine(new KeelsonCommand(clock, environment))));
    }

    private static CommandLine set(CommandLine keelson) {
        keelson.getSubcommands().values().forEach(Cli::nameExamples);
        return keelson.setCommandName(ProgramName.current())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(BigDecimal.class, Cli::amount)
                .registerConverter(LocalDate.class, Cli::day)
                .setUsageHelpAutoWidth(true)
                .setAbbreviatedOptionsAllowed(false)
                .setParameterExceptionHandler(Cli::wrongUsage)
                .setExecutionExceptionHandler(Cli::failed);
    }

    /** Puts the heading of examples above the footers that have no other heading. */
    private static void nameExamples(CommandLine command) {
        UsageMessageSpec usage = command.getCommandSpec().usageMessage();
        if (usage.footer().length > 0 && usage.footerHeading().isEmpty()) {
            usage.footerHeading("%nExamples:%n");
        }
        command.getSubcommands().values().forEach(Cli::nameExamples);
    }

    private static BigDecimal amount(String text) {
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a number such as 12.5");
        }
    }

    private static LocalDate day(String text) {
        try {
            return LocalDate.parse(text);
        } catch (DateTimeParseException e) {
            throw new TypeConversionException("'" + text + "' is not a day such as 2026-01-31");
        }
    }

    private static int wrongUsage(ParameterException e, String[] arguments) {
        PrintWriter err = e.getCommandLine().getErr();
        String message = String.valueOf(e.getMessage()).replaceFirst("^Error: ", "").replace("option option", "option");
        err.println("error: " + message + " [USAGE]");
        Suggestions.of(e).ifPresent(suggestion -> err.println("  " + suggestion));
        err.println("  see " + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
        err.flush();
        return ExitCode.USAGE;
    }

    /** Whether this process is shutting down: then errors about closed components are no failures. */
    private static boolean ending() {
        Thread probe = new Thread(() -> {
        });
        try {
            Runtime.getRuntime().addShutdownHook(probe);
            Runtime.getRuntime().removeShutdownHook(probe);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static int failed(Exception e, CommandLine commandLine, @Nullable ParseResult result) {
        ErrorReport report = ErrorReport.of(e);
        if (report.code().equals(ErrorReport.UNEXPECTED) && ending()) {
            return ExitCode.INTERRUPTED;
        }
        CliCommand command = commandLine.getCommand() instanceof CliCommand c ? c : null;
        if (command != null && command.json) {
            command.print(report.toJson());
        } else {
            report.print(commandLine.getErr());
        }
        if (command != null && command.debug) {
            e.printStackTrace(commandLine.getErr());
        }
        commandLine.getErr().flush();
        return report.exitCode();
    }
}
