package io.keelson.cli.worker;

import io.keelson.api.work.CachedResult;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Command(name = "cache",
        description = "Lists the results that steps with `cache` take over, with the runs that have computed them.",
        subcommands = CacheCommand.Clear.class,
        footer = {"  keelson cache", "  keelson cache --tool crm.find", "  keelson cache clear --tool crm.find"})
public final class CacheCommand extends ListCommand<CachedResult> {

    @Option(names = "--tool", paramLabel = "TOOL", description = "Show only results of this tool.")
    @Nullable String tool;

    public CacheCommand() {
        super("no step has a result that others take over", "TOOL", "KEY", "RUN", "SINCE", "EXPIRES");
    }

    @Override
    protected List<CachedResult> items(Keelson keelson) {
        return keelson.cache().list(tool);
    }

    @Override
    protected List<String> row(CachedResult item) {
        return List.of(TerminalText.clean(item.tool()), TerminalText.clean(item.key()), item.runId(),
                item.reservedAt().toString(), item.expiresAt().toString());
    }

    @Command(name = "clear", description = "Lets no step take over present results: of a tool, of a key, or of all.",
            footer = {"  keelson cache clear --tool crm.find", "  keelson cache clear --tool crm.find --key '\"ann\"'",
                    "  keelson cache clear --all"})
    static final class Clear extends ChangeCommand {

        @Option(names = "--tool", paramLabel = "TOOL", description = "Select results of this tool.")
        @Nullable String tool;

        @Option(names = "--key", paramLabel = "JSON", description = "Select results with this key.")
        @Nullable String key;

        @Option(names = "--all", description = "Select all results of the workspace.")
        boolean all;

        private @Nullable JsonNode value;

        @Override
        protected void prepare() {
            if (all == (tool != null || key != null)) {
                throw CliException.usage("NOTHING_SELECTED", "give --tool, --key or both, or --all alone");
            }
            if (key != null) {
                try {
                    value = JsonMapper.shared().readTree(key);
                } catch (JacksonException e) {
                    throw CliException.usage("INVALID_KEY", "--key is no JSON; a text has quotes: --key '\"ann\"'");
                }
            }
        }

        @Override
        protected void run(Keelson keelson) {
            int cleared = keelson.cache().clear(tool, value);
            print(() -> Json.object().put("cleared", cleared), () -> List.of("cleared: " + cleared));
        }
    }
}
