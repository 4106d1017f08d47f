package io.keelson.cli.runs;

import io.keelson.api.run.Artifact;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.follow.ArtifactFiles;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Runs;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

@Command(name = "artifacts",
        description = "Lists the files that a run's steps have stored, with their retention; gets or removes one.",
        footer = {"  keelson artifacts latest",
                "  keelson artifacts latest --get report.md             # here, under its name",
                "  keelson artifacts latest --get report.md --to - | less",
                "  keelson artifacts latest --remove report.md",
                "  keelson artifacts move --to s3://bucket/keelson      # of all runs, to an object store"})
public final class ArtifactsCommand extends ClientCommand {

    /** One of the two. */
    static final class What {
        @Option(names = "--get", paramLabel = "NAME", description = "Copy this artifact's content to a file.")
        @Nullable String get;

        @Option(names = "--remove", paramLabel = "NAME",
                description = "End this artifact's retention now; its content is removed an hour later.")
        @Nullable String remove;
    }

    @Parameters(index = "0", arity = "0..1", paramLabel = "RUN", description = "The run's id, or latest.")
    @Nullable String run;

    @ArgGroup
    @Nullable What what;

    @Option(names = "--to", paramLabel = "FILE", description = "With --get: the target file; - for standard output.")
    @Nullable String to;

    @Override
    protected Work work() {
        return what != null && what.remove != null ? Work.NONE : Work.OF_RUNNING_SERVER;
    }

    @Override
    protected void run(Keelson keelson) throws IOException {
        if (run == null) {
            throw new ParameterException(spec.commandLine(), "Missing required parameter: 'RUN'");
        }
        String id = RunDocuments.id(keelson, run);
        Runs runs = keelson.runs();
        if (what != null && what.get != null) {
            get(runs, find(runs, id, what.get));
        } else if (what != null && what.remove != null) {
            runs.remove(find(runs, id, what.remove));
            note(what.remove + " is removed");
        } else {
            print(() -> keelson.api().get("/runs/" + id + "/artifacts"),
                    () -> table(runs.artifacts(id), clock().instant()));
        }
    }

    private void get(Runs runs, Artifact artifact) throws IOException {
        try (InputStream content = runs.content(artifact)) {
            if ("-".equals(to)) {
                content.transferTo(System.out);
                System.out.flush();
                return;
            }
            Path file = Path.of(to == null ? ArtifactFiles.fileName(artifact.name(), new HashSet<>()) : to);
            Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
            note(file + ", " + AmountText.size(artifact.sizeBytes()));
        }
    }

    private List<String> table(List<Artifact> artifacts, Instant now) {
        if (artifacts.isEmpty()) {
            return List.of("no artifacts");
        }
        Table table = new Table("ARTIFACT", "SIZE", "TYPE", "KEPT");
        artifacts.forEach(each -> table.row(TerminalText.clean(each.name()), AmountText.size(each.sizeBytes()),
                TerminalText.clean(each.contentType()), kept(each, now)));
        return table.lines(style());
    }

    private static String kept(Artifact artifact, Instant now) {
        Instant until = artifact.expiresAt();
        if (artifact.deletedAt() != null) {
            return "no longer";
        }
        return until == null ? "beyond the run's end" : "for " + AmountText.age(Duration.between(now, until));
    }

    /** The last of that name that is still kept: of several attempts the latest counts. */
    private static Artifact find(Runs runs, String run, String name) {
        return runs.artifacts(run).stream().filter(each -> each.name().equals(name) && each.deletedAt() == null)
                .reduce((first, second) -> second)
                .orElseThrow(
                        () -> CliException.failed("ARTIFACT_NOT_FOUND", "the run has no artifact " + name));
    }
}
