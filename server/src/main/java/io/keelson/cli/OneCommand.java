package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Does something with one thing, or nothing, and shows what it is then. */
abstract class OneCommand<T> extends CliCommand {

    /** The thing, afterwards. */
    abstract T act(Keelson keelson);

    abstract List<String> lines(T thing);

    @Override
    public final Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = link()) {
            T thing = act(link.keelson());
            if (json) {
                print(thing instanceof JsonNode document ? document : Json.document(thing));
            } else {
                print(lines(thing));
            }
            return ExitCode.OK;
        }
    }

    /** A line for each member that says something. */
    static List<String> members(JsonNode document) {
        return document.properties().stream().filter(member -> !member.getValue().isNull())
                .map(member -> member.getKey() + ": " + Cells.clean(member.getValue().isString()
                        ? member.getValue().stringValue()
                        : member.getValue().toString()))
                .toList();
    }
}
