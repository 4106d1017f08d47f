package io.keelson.cli.models;

import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.client.Keelson;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "eval",
        description = {"Compares models, instructions and tools on recorded tasks.",
                "Each case is a task of a run. Each variant does it again in a fork of the run; calls have the results that they had.",
                "The same command again finds the trials that exist and pays for none of them twice."},
        footer = {"  keelson eval evaluation.yaml", "  keelson eval evaluation.yaml --json | jq .variants"})
public final class EvalCommand extends ClientCommand {

    @Parameters(paramLabel = "FILE",
            description = "The evaluation, YAML or JSON, or - for standard input; see docs/guide/evaluation.md.")
    String file;

    @Option(names = "--timeout", paramLabel = "TIME", converter = DurationArgument.class,
            description = "How long to wait for the trials, such as 30m; they continue after it.")
    @Nullable Duration timeout;

    private @Nullable EvaluationFile evaluation;

    @Override
    protected void prepare() {
        evaluation = EvaluationFile.read(file);
    }

    @Override
    protected Work work() {
        return Work.ALL;
    }

    @Override
    protected void run(Keelson keelson) {
        EvaluationFile cases = Objects.requireNonNull(evaluation);
        Instant deadline = timeout == null ? null : clock().instant().plus(timeout);
        EvaluationReport report =
                new EvaluationReport(cases, new Trials(keelson, cases, clock(), deadline, this::news).all());
        print(report::document, () -> report.lines(style()));
        exitCode(report.passed() ? ExitCode.OK : ExitCode.WITH_FAILURES);
    }
}
