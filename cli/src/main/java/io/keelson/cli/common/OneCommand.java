package io.keelson.cli.common;

import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Does something with one thing, or nothing, and shows what it is then. */
public abstract class OneCommand<T> extends CliCommand {

    /** The thing, afterwards. */
    public abstract T act(Keelson keelson);

    public abstract List<String> lines(T thing);

    /** Whether the action changes the thing, and does not only read it. */
    public boolean changes() {
        return false;
    }

    @Override
    public final Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link(changes())) {
            T thing = act(server.keelson());
            if (json) {
                print(thing instanceof JsonNode document ? document : Json.document(thing));
            } else {
                print(lines(thing));
            }
            return ExitCode.OK;
        }
    }

    /** A line for each member that says something. */
    public static List<String> members(JsonNode document) {
        return document.properties().stream().filter(member -> !member.getValue().isNull())
                .map(member -> member.getKey() + ": " + TerminalText.clean(member.getValue().isString()
                        ? member.getValue().stringValue()
                        : member.getValue().toString()))
                .toList();
    }
}
