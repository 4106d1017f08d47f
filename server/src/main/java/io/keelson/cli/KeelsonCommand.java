package io.keelson.cli;

import io.keelson.cli.admin.AuditCommand;
import io.keelson.cli.admin.DoctorCommand;
import io.keelson.cli.admin.KeysCommand;
import io.keelson.cli.admin.OpenCommand;
import io.keelson.cli.admin.ServerCommand;
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
import io.keelson.cli.commands.OrdersCommand;
import io.keelson.cli.commands.WebhooksCommand;
import io.keelson.cli.common.CliEnvironment;
import io.keelson.cli.common.Version;
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
import io.keelson.cli.devmodel.DevModelCommand;
import io.keelson.cli.inbox.BoardCommand;
import io.keelson.cli.inbox.DecisionCommand;
import io.keelson.cli.inbox.EscalationsCommand;
import io.keelson.cli.inbox.InboxCommand;
import io.keelson.cli.inbox.ProposalsCommand;
import io.keelson.cli.inbox.ReportsCommand;
import io.keelson.cli.models.EvalCommand;
import io.keelson.cli.models.ModelsCommand;
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
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(name = "keelson", versionProvider = Version.class, synopsisSubcommandLabel = "COMMAND",
        description = "Durable runs for AI agents: plans of tasks that survive crashes, restarts and slow approvals.",
        subcommands = {RunCommand.class, WatchCommand.class, RunsCommand.class, ShowCommand.class, LogsCommand.class,
                TranscriptCommand.class,
                StatesCommand.class,
                EventsCommand.class, ArtifactsCommand.class, ExplainCommand.class, ActionCommand.Pause.class,
                ResumeCommand.class, RunOrFilterCommand.Cancel.class, ActionCommand.Fail.class,
                RunOrFilterCommand.Retry.class,
                ActionCommand.Replan.class,
                DeleteCommand.class, ActionCommand.Fork.class, ActionCommand.Budget.class, TaskCommand.class,
                ActionCommand.Signal.class,
                BulkCommand.class,
                InboxCommand.class, ProposalsCommand.class, DecisionCommand.Approve.class, DecisionCommand.Reject.class,
                EscalationsCommand.class, EscalationsCommand.Resolve.class, BoardCommand.class, ReportsCommand.class,
                ReportsCommand.Print.class, RecipesCommand.class, SchedulesCommand.class, AgentsCommand.class,
                McpCommand.class, SecretsCommand.class, CommandsCommand.class, OrdersCommand.class,
                DeploymentsCommand.class,
                WebhooksCommand.class, CreditsCommand.class, LedgerCommand.class, UsageCommand.class,
                PricesCommand.class, ServerCommand.class, OpenCommand.class, DoctorCommand.class, WhoamiCommand.class,
                WorkspacesCommand.class, KeysCommand.class, AuditCommand.class, ValidateCommand.class,
                ToolsCommand.class, LifecyclesCommand.class,
                InitCommand.class, ModelsCommand.class, EvalCommand.class, DevModelCommand.class,
                CompletionCommand.class,
                HelpCommand.class},
        footerHeading = "%nExit codes:%n", footer = {"  0 done, or the run completed", "  1 it failed",
                "  2 wrong usage, wrong mission or wrong settings", "  3 the run was cancelled",
                "  4 the run waits for a person", "  5 the run completed with failures",
                "  124 --timeout is over, 130 interrupted", "",
                "Examples:", "  keelson run examples/repository-report.yaml --input path=.", "  keelson run --help"})
final class KeelsonCommand implements Runnable, CliEnvironment {

    private final Clock clock;
    private final Map<String, String> variables;

    @Spec
    CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "Show the version.")
    boolean version;

    KeelsonCommand(Clock clock, Map<String, String> variables) {
        this.clock = clock;
        this.variables = Map.copyOf(variables);
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public Map<String, String> variables() {
        return variables;
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
