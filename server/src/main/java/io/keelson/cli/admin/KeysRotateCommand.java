package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "rotate",
        description = "Replaces a key by a new one and prints it once. The old key stays valid for the overlap.",
        footerHeading = "%nExamples:%n", footer = {"  keelson keys rotate ID",
                "  keelson keys rotate ID --overlap 0     # it has leaked"})
final class KeysRotateCommand extends CliCommand {

    @Parameters(paramLabel = "KEY", description = "The key's id.")
    String key;

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "Of another workspace, by id or name; for operators.")
    @Nullable String workspace;

    @Option(names = "--overlap", paramLabel = "TIME", converter = DurationArgument.class, defaultValue = "1d",
            description = "How long the old key stays valid, at most 30d; ${DEFAULT-VALUE} when not given, 0 to end it now.")
    Duration overlap = Duration.ofDays(1);

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            KeysCommand.issued(this,
                    keelson.apiKeys().rotate(WorkspaceIds.ofOrOwn(keelson, workspace), key, overlap));
            if (!json) {
                note(overlap.isZero() ? "the old key has ended"
                        : "the old key stays valid for " + AmountText.age(overlap));
            }
            return ExitCode.OK;
        }
    }
}
