package io.keelson.cli.control;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import io.keelson.server.json.ExactJson;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;

@Command(name = "signal",
        description = "Sends a signal to a run. A step with the tool signal.wait receives it, now or when it starts.",
        footerHeading = "%nExamples:%n",
        footer = "  keelson signal latest paid --payload '{\"amount\": 12}' --watch")
public final class SignalCommand extends ActionCommand {

    @Parameters(paramLabel = "NAME", description = "The signal's name.")
    String name;

    @Option(names = "--payload", paramLabel = "JSON", description = "Its payload; null when not given.")
    @Nullable String payload;

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        return runs.signal(id, name, payload == null ? null : json(payload));
    }

    private static Object json(String text) {
        try {
            return ExactJson.read(text);
        } catch (JacksonException e) {
            throw CliException.usage("PAYLOAD_NOT_JSON", "--payload is not JSON: " + e.getOriginalMessage());
        }
    }
}
