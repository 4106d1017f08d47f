package io.keelson.cli.common;

import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.List;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Shows the first items of a list as a table, and says so if more exist. */
public abstract class PageCommand<T> extends ListCommand<T> {

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most N; ${DEFAULT-VALUE} when not given.")
    protected int limit = 20;

    protected PageCommand(String nothing, String... headings) {
        super(nothing, headings);
    }

    /** The first items, at most {@link #limit}. */
    protected abstract Page<T> page(Keelson keelson);

    /** Prints notes on the shown items, such as the commands that answer them. */
    protected void advise(List<T> items) {}

    @Override
    protected final List<T> items(Keelson keelson) {
        return page(keelson).items();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        Page<T> page = page(keelson);
        return Json.object().put("next_cursor", page.nextCursor()).set("items", Json.document(page.items()));
    }

    @Override
    protected final void run(Keelson keelson) {
        if (json) {
            print(document(keelson));
            return;
        }
        Page<T> page = page(keelson);
        print(lines(page.items()));
        advise(page.items());
        if (page.nextCursor() != null) {
            note("more results exist; raise --limit");
        }
    }
}
