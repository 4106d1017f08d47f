package io.keelson.cli.definitions;

import io.keelson.api.definition.Agent;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.AgentRequest;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "agents", description = "Lists the agents of the workspace. They execute tasks without steps.",
        subcommands = {AgentsCommand.Show.class, AgentsCommand.Create.class, AgentsCommand.Update.class,
                AgentsCommand.Delete.class},
        footer = {"  keelson agents", "  keelson agents show librarian",
                "  keelson agents create librarian --tool files.read --capability research --instructions \"Be brief.\"",
                "  keelson agents create --file librarian.yaml"})
public final class AgentsCommand extends ListCommand<Agent> {
    private static final int PAGE = 200;

    AgentsCommand() {
        super("no agents", "ID", "AGENT", "MODEL", "CAPABILITIES", "TOOLS", "NAME");
    }

    @Override
    protected List<Agent> items(Keelson keelson) {
        List<Agent> agents = new ArrayList<>();
        @Nullable String cursor = null;
        do {
            Page<Agent> page = keelson.agents().list(cursor, PAGE);
            agents.addAll(page.items());
            cursor = page.nextCursor();
        } while (cursor != null);
        return agents;
    }

    @Override
    protected List<String> row(Agent agent) {
        return List.of(Integer.toString(agent.id()), agent.slug(),
                TerminalText.clean(agent.model()),
                String.join(" ", agent.capabilities()), TerminalText.clean(String.join(" ", agent.tools())),
                TerminalText.clean(agent.name()));
    }

    private static List<String> lines(Agent agent) {
        List<String> lines = new ArrayList<>();
        lines.add(agent.slug() + "  " + TerminalText.clean(agent.name()) + "  (id " + agent.id() + ")");
        line(lines, "description", agent.description());
        line(lines, "model", agent.model());
        line(lines, "turns taken by", agent.runsOn());
        line(lines, "capabilities", String.join(", ", agent.capabilities()));
        line(lines, "tools", String.join(", ", agent.tools()));
        Integer turns = agent.limits().maxTurns();
        line(lines, "turns", turns == null ? null : "at most " + turns);
        line(lines, "approvals", String.join(", ", new TreeMap<>(agent.limits().approvals()).entrySet().stream()
                .map(each -> each.getKey() + " " + each.getValue().asString(each.getValue().toString())).toList()));
        line(lines, "instructions", agent.instructions());
        agent.warnings().forEach(each -> lines.add("warning: " + TerminalText.clean(each)));
        return lines;
    }

    private static void line(List<String> lines, String what, @Nullable String value) {
        if (value != null && !value.isEmpty()) {
            lines.add("  " + what + ": " + TerminalText.clean(value));
        }
    }

    @Command(name = "show", description = "Shows an agent.")
    static final class Show extends ClientCommand {

        @Parameters(index = "0", paramLabel = "AGENT", description = "Slug or id of the agent.")
        String agent = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.agents().get(agent), AgentsCommand::lines);
        }
    }

    @Command(name = "create",
            description = "Adds an agent to the roster, from options or from a YAML or JSON file with the same members as the API. Options override the file.")
    static final class Create extends ChangeCommand {

        @Parameters(index = "0", arity = "0..1", paramLabel = "SLUG",
                description = "Lower-case letters, digits and '-'; may be in the file instead.")
        @Nullable String slug;

        @Mixin
        AgentOptions profile = new AgentOptions();

        private AgentRequest request = AgentRequest.of(Json.object());

        @Override
        protected void prepare() {
            request = profile.request(slug);
        }

        @Override
        protected void run(Keelson keelson) {
            show(keelson.agents().create(request), AgentsCommand::lines);
        }
    }

    @Command(name = "update",
            description = "Replaces the definition of an agent; omitted members are removed. Tasks already assigned keep the earlier definition.")
    static final class Update extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "AGENT", description = "Slug or id of the agent.")
        String agent = "";

        @Mixin
        AgentOptions profile = new AgentOptions();

        private AgentRequest request = AgentRequest.of(Json.object());

        @Override
        protected void prepare() {
            request = profile.request(null);
        }

        @Override
        protected void run(Keelson keelson) {
            show(keelson.agents().update(agent, request), AgentsCommand::lines);
        }
    }

    @Command(name = "delete",
            description = "Removes an agent from the roster. It still executes tasks already assigned.")
    static final class Delete extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "AGENT", description = "Slug or id of the agent.")
        String agent = "";

        @Override
        protected void run(Keelson keelson) {
            keelson.agents().delete(agent);
            say(agent + " is deleted");
        }
    }
}
