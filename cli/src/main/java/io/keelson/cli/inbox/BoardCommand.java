package io.keelson.cli.inbox;

import io.keelson.api.outlet.BoardColumn;
import io.keelson.api.outlet.BoardTask;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.BoardQuery;
import io.keelson.client.Keelson;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "board", description = "Shows the work board: tasks of runs and of people by status.",
        footer = {"  keelson board", "  keelson board --run latest",
                "  keelson board --json | jq '.columns[] | {status, count}'"})
public final class BoardCommand extends ClientCommand {

    @Option(names = "--run", paramLabel = "RUN", description = "The tasks of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--assignee", paramLabel = "NAME", description = "Show only tasks of this agent or person.")
    @Nullable String assignee;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "10",
            description = "At most N in each column; ${DEFAULT-VALUE} when not given.")
    int limit = 10;

    @Override
    protected void run(Keelson keelson) {
        BoardQuery query = BoardQuery.all().limit(limit);
        query = run == null ? query : query.run(RunDocuments.id(keelson, run));
        query = assignee == null ? query : query.assignee(assignee);
        if (json) {
            print(keelson.board().document(query));
            return;
        }
        List<BoardColumn> columns = keelson.board().columns(query);
        print(lines(columns));
        if (columns.stream().anyMatch(column -> column.nextCursor() != null)) {
            note("more results exist; raise --limit");
        }
    }

    private List<String> lines(List<BoardColumn> columns) {
        Style style = style();
        Table table = new Table("STATUS", "TASK", "PRIORITY", "AGE", "ASSIGNEE", "TITLE", "FAILURE");
        List<String> counts = new ArrayList<>();
        for (BoardColumn column : columns) {
            counts.add(column.status() + " " + column.count() + (column.more() ? "+" : ""));
            for (BoardTask task : column.items()) {
                table.row(task.status(), Long.toString(task.id()), task.priority(),
                        age(task.createdAt()),
                        TerminalText.clean(task.assignee()),
                        TerminalText.clean(task.title()),
                        style.red(TerminalText.clean(task.errorMessage())));
            }
        }
        List<String> lines = new ArrayList<>(List.of(String.join(", ", counts)));
        if (columns.stream().anyMatch(column -> !column.items().isEmpty())) {
            lines.add("");
            lines.addAll(table.lines(style));
        }
        return lines;
    }
}
