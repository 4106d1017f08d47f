package io.keelson.cli.runs;

import io.keelson.api.run.Archive;
import io.keelson.api.run.ArchiveCheck;
import io.keelson.api.run.Run;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "archive",
        description = {"Shows how many runs are archived.", "`keelson runs --archived` lists them."},
        subcommands = {ArchiveCommand.Restore.class, ArchiveCommand.Verify.class},
        footer = {"  keelson archive", "  keelson archive verify",
                "  keelson archive restore 0192f0c1-7f6e-7000-8000-000000000000"})
public final class ArchiveCommand extends ClientCommand {

    @Override
    protected void run(Keelson keelson) {
        Archive archive = keelson.archive().get();
        show(archive, archive.runs() == 0 ? "no archived runs"
                : AmountText.count(archive.runs(), "run") + " in " + AmountText.count(archive.objects(), "object")
                        + ", "
                        + AmountText.count(archive.bytes(), "byte") + ", ended from " + archive.oldest() + " to "
                        + archive.newest());
    }

    @Command(name = "restore",
            description = "Brings archived runs back into the database. A run that is not archived stays as it is.",
            footer = "  keelson archive restore 0192f0c1-7f6e-7000-8000-000000000000")
    static final class Restore extends ChangeCommand {

        @Parameters(arity = "1..*", paramLabel = "RUN", description = "Whole ids of runs.")
        List<String> runs = List.of();

        @Override
        protected void run(Keelson keelson) {
            List<Run> restored = new ArrayList<>();
            for (String run : runs) {
                restored.add(keelson.archive().restore(run));
            }
            print(() -> Json.object().set("items", Json.document(restored)),
                    () -> restored.stream().map(run -> "run " + run.id() + " is in the database").toList());
        }
    }

    @Command(name = "verify",
            description = "Compares all archived runs of the workspace with their digests and manifests. Prints damaged runs; the exit code is then 1.",
            footer = {"  keelson archive verify", "  keelson archive verify --json"})
    static final class Verify extends ClientCommand {

        private static final int PAGE = 50;

        @Override
        protected void run(Keelson keelson) {
            int runs = 0;
            long rows = 0;
            long bytes = 0;
            List<ArchiveCheck.Damage> damaged = new ArrayList<>();
            @Nullable String cursor = null;
            do {
                ArchiveCheck part = keelson.archive().verify(cursor, PAGE);
                runs += part.runs();
                rows += part.rows();
                bytes += part.bytes();
                damaged.addAll(part.damaged());
                cursor = part.nextCursor();
            } while (cursor != null);
            ArchiveCheck all = new ArchiveCheck(runs, rows, bytes, damaged, null);
            print(() -> Json.document(all), () -> Stream.concat(
                    all.damaged().stream().map(each -> each.problem() + ": " + each.message()),
                    Stream.of((all.damaged().isEmpty() ? "right: " : "wrong: " + all.damaged().size() + " of ")
                            + AmountText.count(all.runs(), "run") + ", " + AmountText.count(all.rows(), "row") + ", "
                            + AmountText.count(all.bytes(), "byte")))
                    .toList());
            exitCode(damaged.isEmpty() ? ExitCode.OK : ExitCode.FAILED);
        }
    }
}
