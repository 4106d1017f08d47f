package io.keelson.cli.models;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "eval",
        description = {"Compares models, instructions and tools on recorded tasks.",
                "Each case is a task of a run. Each variant does it again in a fork of the run; calls have the results that they had.",
                "The same command again finds the trials that exist and pays for none of them twice."},
        footerHeading = "%nExamples:%n",
        footer = {"  keelson eval evaluation.yaml", "  keelson eval evaluation.yaml --json | jq .variants"})
public final class EvalCommand extends CliCommand {

    @Parameters(paramLabel = "FILE",
            description = "The evaluation, YAML or JSON, or - for standard input; see docs/guide/evaluation.md.")
    String file;

    @Option(names = "--timeout", paramLabel = "TIME", converter = DurationArgument.class,
            description = "How long to wait for the trials, such as 30m; they continue after it.")
    @Nullable Duration timeout;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        EvaluationFile evaluation = EvaluationFile.read(file);
        try (ServerConnection server = ServerConnection.open(settings(), ServerConnection.Work.ALL, this::news)) {
            List<Trial> trials = new Trials(server.keelson(), evaluation, clock(),
                    timeout == null ? null : clock().instant().plus(timeout), this::news).all();
            EvaluationReport report = new EvaluationReport(evaluation, trials);
            if (json) {
                print(report.document());
            } else {
                print(report.lines(style()));
            }
            return report.passed() ? ExitCode.OK : ExitCode.WITH_FAILURES;
        }
    }
}
