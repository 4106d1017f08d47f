package io.keelson.cli;

import io.keelson.cli.admin.ArtifactsAdoptCommand;
import io.keelson.cli.admin.ArtifactsMoveCommand;
import io.keelson.cli.admin.AuditCommand;
import io.keelson.cli.admin.BackupCommand;
import io.keelson.cli.admin.DatabaseCommand;
import io.keelson.cli.admin.DoctorCommand;
import io.keelson.cli.admin.KeysCommand;
import io.keelson.cli.admin.OpenCommand;
import io.keelson.cli.admin.RestoreCommand;
import io.keelson.cli.admin.ServerCommand;
import io.keelson.cli.admin.TestServerCommand;
import io.keelson.cli.admin.WhoamiCommand;
import io.keelson.cli.admin.WorkspacesCommand;
import io.keelson.cli.authoring.InitCommand;
import io.keelson.cli.authoring.LifecyclesCommand;
import io.keelson.cli.authoring.ToolsCommand;
import io.keelson.cli.authoring.ValidateCommand;
import io.keelson.cli.billing.CreditsCommand;
import io.keelson.cli.billing.LedgerCommand;
import io.keelson.cli.billing.PricesCommand;
import io.keelson.cli.billing.UsageCommand;
import io.keelson.cli.commands.CommandsCommand;
import io.keelson.cli.commands.DeploymentsCommand;
import io.keelson.cli.commands.NotificationsCommand;
import io.keelson.cli.commands.OrdersCommand;
import io.keelson.cli.commands.WebhooksCommand;
import io.keelson.cli.control.ActionCommand;
import io.keelson.cli.control.BulkCommand;
import io.keelson.cli.control.DeleteCommand;
import io.keelson.cli.control.ResumeCommand;
import io.keelson.cli.control.RunOrFilterCommand;
import io.keelson.cli.control.TaskCommand;
import io.keelson.cli.definitions.AgentsCommand;
import io.keelson.cli.definitions.McpCommand;
import io.keelson.cli.definitions.RecipesCommand;
import io.keelson.cli.definitions.SchedulesCommand;
import io.keelson.cli.definitions.SecretsCommand;
import io.keelson.cli.definitions.TriggersCommand;
import io.keelson.cli.inbox.ApprovalsCommand;
import io.keelson.cli.inbox.BoardCommand;
import io.keelson.cli.inbox.DecisionCommand;
import io.keelson.cli.inbox.EscalationsCommand;
import io.keelson.cli.inbox.InboxCommand;
import io.keelson.cli.inbox.ProposalsCommand;
import io.keelson.cli.inbox.ReportsCommand;
import io.keelson.cli.models.DevModelCommand;
import io.keelson.cli.models.EvalCommand;
import io.keelson.cli.models.ModelsCommand;
import io.keelson.cli.runs.ArchiveCommand;
import io.keelson.cli.runs.ArtifactsCommand;
import io.keelson.cli.runs.EventsCommand;
import io.keelson.cli.runs.ExplainCommand;
import io.keelson.cli.runs.LogsCommand;
import io.keelson.cli.runs.RunCommand;
import io.keelson.cli.runs.RunsCommand;
import io.keelson.cli.runs.ShowCommand;
import io.keelson.cli.runs.StatesCommand;
import io.keelson.cli.runs.TranscriptCommand;
import io.keelson.cli.runs.WatchCommand;
import io.keelson.cli.worker.CacheCommand;
import io.keelson.cli.worker.VersionsCommand;
import io.keelson.cli.worker.WorkerCommand;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The commands of {@code keelson} by subject. To read the annotations of all of them takes longer than most commands,
 * so only the called command is added to the command line, and the list of all needs their descriptions only.
 */
final class Sections {

    /** The annotation of the type has the same name. */
    private record Named(String name, Class<?> type) {

        private String description() {
            return name.equals(HELP) ? HELP_DESCRIPTION : type.getAnnotation(Command.class).description()[0];
        }
    }

    private record Section(String heading, List<Named> commands) {}

    private static final String HELP = "help";
    /** Its script completes all commands. */
    private static final String COMPLETION = "completion";
    private static final String HELP_DESCRIPTION = "Shows the help of a command.";
    private static final Set<String> FLAGS = Set.of("-h", "--help", "-V", "--version");
    private static final List<Section> ALL = List.of(
            new Section("Runs",
                    List.of(named("run", RunCommand.class), named("watch", WatchCommand.class),
                            named("runs", RunsCommand.class), named("show", ShowCommand.class),
                            named("logs", LogsCommand.class), named("transcript", TranscriptCommand.class),
                            named("states", StatesCommand.class), named("events", EventsCommand.class),
                            named("artifacts", ArtifactsCommand.class), named("explain", ExplainCommand.class),
                            named("archive", ArchiveCommand.class))),
            new Section("Run control",
                    List.of(named("pause", ActionCommand.Pause.class), named("resume", ResumeCommand.class),
                            named("cancel", RunOrFilterCommand.Cancel.class), named("fail", ActionCommand.Fail.class),
                            named("retry", RunOrFilterCommand.Retry.class), named("replan", ActionCommand.Replan.class),
                            named("undo", ActionCommand.Undo.class),
                            named("fork", ActionCommand.Fork.class), named("budget", ActionCommand.Budget.class),
                            named("delete", DeleteCommand.class), named("task", TaskCommand.class),
                            named("signal", ActionCommand.Signal.class), named("bulk", BulkCommand.class))),
            new Section("Decisions and reports", List.of(named("inbox", InboxCommand.class),
                    named("proposals", ProposalsCommand.class), named("approve", DecisionCommand.Approve.class),
                    named("reject", DecisionCommand.Reject.class),
                    named("approvals", ApprovalsCommand.class), named("escalations", EscalationsCommand.class),
                    named("resolve", EscalationsCommand.Resolve.class), named("board", BoardCommand.class),
                    named("reports", ReportsCommand.class), named("report", ReportsCommand.Print.class))),
            new Section("Definitions",
                    List.of(named("recipes", RecipesCommand.class), named("schedules", SchedulesCommand.class),
                            named("triggers", TriggersCommand.class), named("agents", AgentsCommand.class),
                            named("mcp", McpCommand.class),
                            named("secrets", SecretsCommand.class))),
            new Section("Effects and webhooks",
                    List.of(named("commands", CommandsCommand.class), named("orders", OrdersCommand.class),
                            named("deployments", DeploymentsCommand.class), named("webhooks", WebhooksCommand.class),
                            named("notifications", NotificationsCommand.class))),
            new Section("Money",
                    List.of(named("credits", CreditsCommand.class), named("ledger", LedgerCommand.class),
                            named("usage", UsageCommand.class), named("prices", PricesCommand.class))),
            new Section("Server and workspaces",
                    List.of(named("server", ServerCommand.class), named("worker", WorkerCommand.class),
                            named("versions", VersionsCommand.class),
                            named("cache", CacheCommand.class),
                            named("open", OpenCommand.class),
                            named("doctor", DoctorCommand.class), named("whoami", WhoamiCommand.class),
                            named("workspaces", WorkspacesCommand.class), named("keys", KeysCommand.class),
                            named("audit", AuditCommand.class), named("backup", BackupCommand.class),
                            named("restore", RestoreCommand.class), named("database", DatabaseCommand.class))),
            new Section("Authoring",
                    List.of(named("init", InitCommand.class), named("validate", ValidateCommand.class),
                            named("tools", ToolsCommand.class), named("lifecycles", LifecyclesCommand.class),
                            named("test-server", TestServerCommand.class))),
            new Section("Models",
                    List.of(named("models", ModelsCommand.class), named("eval", EvalCommand.class),
                            named("dev-model", DevModelCommand.class))),
            new Section("Command line",
                    List.of(named("help", HelpCommand.class), named(COMPLETION, CompletionCommand.class))));

    private Sections() {}

    private static Named named(String name, Class<?> type) {
        return new Named(name, type);
    }

    /** Adds all commands. */
    static CommandLine addAll(CommandLine keelson) {
        return add(keelson, named -> true);
    }

    /** Adds the commands that the arguments need: the called one, or all where none is called and no help requested. */
    static CommandLine addCalled(CommandLine keelson, String... arguments) {
        List<String> words = List.of(arguments);
        if (words.isEmpty() || words.size() == 1 && FLAGS.contains(words.getFirst())) {
            return add(keelson, named -> named.name().equals(HELP));
        }
        String called = words.getFirst().equals(HELP) && words.size() > 1 ? words.get(1) : words.getFirst();
        boolean one = !called.equals(COMPLETION) && all().anyMatch(named -> named.name().equals(called));
        return add(keelson, named -> !one || named.name().equals(called) || named.name().equals(HELP));
    }

    /** The list is in the help of this command only; the help of its subcommands does not contain it. */
    private static CommandLine add(CommandLine keelson, Predicate<Named> needed) {
        all().filter(needed).forEach(named -> keelson.addSubcommand(named.name(), named.type()));
        CommandLine artifacts = keelson.getSubcommands().get("artifacts");
        if (artifacts != null) {
            artifacts.addSubcommand(ArtifactsMoveCommand.class);
            artifacts.addSubcommand(ArtifactsAdoptCommand.class);
        }
        Objects.requireNonNull(keelson.getSubcommands().get(HELP)).getCommandSpec().usageMessage()
                .description(HELP_DESCRIPTION);
        UsageMessageSpec usage = keelson.getCommandSpec().usageMessage();
        usage.sectionMap().remove(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING);
        usage.sectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Sections::render);
        return keelson;
    }

    private static Stream<Named> all() {
        return ALL.stream().flatMap(section -> section.commands().stream());
    }

    private static String render(Help help) {
        UsageMessageSpec usage = help.commandSpec().usageMessage();
        int names = all().mapToInt(named -> named.name().length()).max().orElse(0) + 2;
        StringBuilder text = new StringBuilder();
        for (Section section : ALL) {
            TextTable table = TextTable.forColumns(help.colorScheme(), new Column(names, 2, Overflow.SPAN),
                    new Column(usage.width() - names, 2, Overflow.WRAP));
            for (Named named : section.commands()) {
                table.addRowValues(help.colorScheme().commandText(named.name()),
                        help.colorScheme().text(named.description()));
            }
            text.append(help.createHeading("%n" + section.heading() + ":%n")).append(table);
        }
        return text.toString();
    }
}
