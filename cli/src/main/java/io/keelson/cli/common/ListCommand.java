package io.keelson.cli.common;

import io.keelson.cli.view.Table;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.util.List;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Shows the first page of a list as a table, and says when there is more of it. */
public abstract class ListCommand<T> extends CliCommand {

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most N; ${DEFAULT-VALUE} when not given.")
    public int limit = 20;

    private final String nothing;

    /** @param nothing what is said where the list is empty */
    public ListCommand(String nothing) {
        this.nothing = nothing;
    }

    /** The first ones, at most {@link #limit}. */
    public abstract Page<T> page(Keelson keelson);

    public abstract Table table(List<T> items);

    /** The output of --json. */
    public JsonNode document(Keelson keelson) {
        Page<T> page = page(keelson);
        return Json.object().put("next_cursor", page.nextCursor()).set("items", Json.document(page.items()));
    }

    /** Says what can be done with what was shown. */
    public void advise(List<T> items) {}

    @Override
    public final Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            if (json) {
                print(document(server.keelson()));
                return ExitCode.OK;
            }
            Page<T> page = page(server.keelson());
            print(page.items().isEmpty() ? List.of(nothing) : table(page.items()).lines(style()));
            advise(page.items());
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }
}
