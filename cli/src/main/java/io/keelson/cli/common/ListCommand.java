package io.keelson.cli.common;

import io.keelson.cli.view.Table;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Shows all items of a list as a table. */
public abstract class ListCommand<T> extends ClientCommand {

    private final String nothing;
    private final List<String> headings;

    /** @param nothing the line for an empty list; empty to show the headings only */
    protected ListCommand(String nothing, String... headings) {
        this.nothing = nothing;
        this.headings = List.of(headings);
    }

    protected abstract List<T> items(Keelson keelson);

    /** The cells of an item, one for each heading. */
    protected abstract List<String> row(T item);

    /** The output of {@code --json}. */
    protected JsonNode document(Keelson keelson) {
        return Json.object().set("items", Json.document(items(keelson)));
    }

    @Override
    protected void run(Keelson keelson) {
        print(() -> document(keelson), () -> lines(items(keelson)));
    }

    /** The table, or the line for an empty list. */
    protected final List<String> lines(List<T> items) {
        if (items.isEmpty() && !nothing.isEmpty()) {
            return List.of(nothing);
        }
        Table table = new Table(headings.toArray(String[]::new));
        items.forEach(item -> table.row(row(item).toArray(String[]::new)));
        return table.lines(style());
    }
}
