package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.Prompt;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Terminals;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.LimitsAndUse;
import io.keelson.client.Workspace;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "workspaces", description = "Lists the workspaces of the installation, newest first. For operators.",
        subcommands = {WorkspacesCommand.Create.class, WorkspacesCommand.Show.class, WorkspacesCommand.Limits.class,
                WorkspacesCommand.Folders.class, WorkspacesCommand.Models.class, WorkspacesCommand.Tools.class,
                WorkspacesCommand.Autonomy.class, WorkspacesCommand.Close.class,
                WorkspacesCommand.Delete.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson workspaces",
                "  keelson workspaces create acme --limit steps=20",
                "  keelson keys create deployer --workspace acme --scope runs:write"})
public final class WorkspacesCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            List<Workspace> all = server.keelson().workspaces().list();
            if (json) {
                print(Json.object().set("items", Json.document(all)));
                return ExitCode.OK;
            }
            Table table = new Table("WORKSPACE", "STATE", "AGE", "NAME");
            for (Workspace each : all) {
                table.row(each.id(), each.state(), each.createdAt() == null ? ""
                        : AmountText.age(Duration.between(each.createdAt(), clock().instant())),
                        TerminalText.clean(each.name()));
            }
            print(table.lines(style()));
            return ExitCode.OK;
        }
    }

    /** Tells of one. */
    static void show(CliCommand command, Workspace workspace) {
        if (command.json) {
            command.print(Json.document(workspace));
            return;
        }
        List<String> lines = new ArrayList<>(List.of(command.style().bold(TerminalText.clean(workspace.name())),
                workspace.id() + "  " + workspace.state()));
        lines.addAll(LimitOptions.lines(workspace.limits(), workspace.use()));
        lines.add(String.format("%-20s %s", "folders", folders(workspace)));
        lines.add(String.format("%-20s %s", "models", models(workspace)));
        lines.add(String.format("%-20s %s", "tools", tools(workspace)));
        lines.add(String.format("%-20s %s", "autonomy",
                workspace.defaultAutonomy() == null ? "as missions say" : workspace.defaultAutonomy() + " by default"));
        command.print(lines);
    }

    private static String folders(Workspace workspace) {
        List<String> folders = workspace.allowedFolders();
        return folders == null ? "from the server's settings"
                : folders.isEmpty() ? "none" : TerminalText.clean(String.join("  ", folders));
    }

    private static String models(Workspace workspace) {
        return names(workspace.allowedModels());
    }

    private static String tools(Workspace workspace) {
        return names(workspace.allowedTools()) + (workspace.deniedTools().isEmpty() ? ""
                : ", but not " + TerminalText.clean(String.join("  ", workspace.deniedTools())));
    }

    /** @param allowed null for all */
    private static String names(@Nullable List<String> allowed) {
        return allowed == null ? "all" : allowed.isEmpty() ? "none" : TerminalText.clean(String.join("  ", allowed));
    }

    @Command(name = "create",
            description = "Creates a workspace without credits. Then grant it credits and create a key for it.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces create acme",
                    "  keelson workspaces create acme --limit open_runs=100 --limit steps=20"})
    static final class Create extends CliCommand {

        @Parameters(paramLabel = "NAME", description = "Name shown to people.")
        String name;

        @Mixin
        LimitOptions limits = new LimitOptions();

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            Map<String, Number> most = new LinkedHashMap<>();
            limits.changes().forEach((limit, number) -> {
                if (number != null) {
                    most.put(limit, number);
                }
            });
            try (ServerConnection server = link(true)) {
                show(this, server.keelson().workspaces().create(name, most));
                note("the workspace has no credits yet: " + ProgramName.current() + " credits grant N --workspace \""
                        + name
                        + "\"");
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "show", description = "Shows a workspace: its limits and what it uses.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces show acme"})
    static final class Show extends CliCommand {

        @Parameters(paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link()) {
                Keelson keelson = server.keelson();
                show(this, keelson.workspaces().get(WorkspaceIds.of(keelson, workspace)));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "limits",
            description = "Changes the limits of a workspace; without --limit shows the limits of your own.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces limits",
                    "  keelson workspaces limits acme --limit steps=20 --limit tool:gpu.render=2",
                    "  keelson workspaces limits acme --limit steps=none"})
    static final class Limits extends CliCommand {

        @Parameters(arity = "0..1", paramLabel = "WORKSPACE",
                description = "Id or name of the workspace; your own by default.")
        @Nullable String workspace;

        @Mixin
        LimitOptions limits = new LimitOptions();

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(!limits.limits.isEmpty())) {
                Keelson keelson = server.keelson();
                if (workspace == null) {
                    own(keelson);
                } else {
                    String id = WorkspaceIds.of(keelson, workspace);
                    if (!limits.limits.isEmpty()) {
                        keelson.workspaces().limit(id, limits.changes());
                    }
                    show(this, keelson.workspaces().get(id));
                }
                return ExitCode.OK;
            }
        }

        private void own(Keelson keelson) {
            if (!limits.limits.isEmpty()) {
                throw CliException.usage("USAGE", "give the workspace whose limits to change");
            }
            LimitsAndUse own = keelson.limits();
            if (json) {
                print(Json.document(own));
            } else {
                print(LimitOptions.lines(own.limits(), own.use()));
            }
        }
    }

    @Command(name = "folders",
            description = "Sets the folders of a workspace for file tools and processes, instead of KEELSON_ALLOWED_FOLDERS; without folders shows them.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces folders acme /srv/acme /srv/shared",
                    "  keelson workspaces folders acme --none", "  keelson workspaces folders acme --of-server"})
    static final class Folders extends CliCommand {

        @Parameters(index = "0", paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @Parameters(index = "1..*", arity = "0..*", paramLabel = "FOLDER",
                description = "An absolute path on the server. Relative paths in missions are relative to the first.")
        List<String> folders = new ArrayList<>();

        @ArgGroup
        @Nullable Instead instead;

        static final class Instead {
            @Option(names = "--none", description = "Allow no folder.")
            boolean none;

            @Option(names = "--of-server", description = "Use those of the server's settings again.")
            boolean ofServer;
        }

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            if (instead != null && !folders.isEmpty()) {
                throw CliException.usage("USAGE", "give folders, --none or --of-server");
            }
            boolean change = instead != null || !folders.isEmpty();
            try (ServerConnection server = link(change)) {
                Keelson keelson = server.keelson();
                String id = WorkspaceIds.of(keelson, workspace);
                if (change) {
                    keelson.workspaces().folders(id, instead != null && instead.ofServer ? null : folders);
                }
                show(this, keelson.workspaces().get(id));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "models",
            description = "Sets the models that plans and agents of a workspace may use; without models shows them.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces models acme small large",
                    "  keelson workspaces models acme --none", "  keelson workspaces models acme --all"})
    static final class Models extends CliCommand {

        @Parameters(index = "0", paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @Parameters(index = "1..*", arity = "0..*", paramLabel = "MODEL", description = "Name of the model in plans.")
        List<String> models = new ArrayList<>();

        @ArgGroup
        @Nullable Instead instead;

        static final class Instead {
            @Option(names = "--none", description = "Allow no model.")
            boolean none;

            @Option(names = "--all", description = "Allow all models again.")
            boolean all;
        }

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            if (instead != null && !models.isEmpty()) {
                throw CliException.usage("USAGE", "give models, --none or --all");
            }
            boolean change = instead != null || !models.isEmpty();
            try (ServerConnection server = link(change)) {
                Keelson keelson = server.keelson();
                String id = WorkspaceIds.of(keelson, workspace);
                if (change) {
                    keelson.workspaces().models(id, instead != null && instead.all ? null : models);
                }
                show(this, keelson.workspaces().get(id));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "tools",
            description = "Sets the tools that plans and agents of a workspace may use; without options shows them.",
            footerHeading = "%nExamples:%n",
            footer = {"  keelson workspaces tools acme --allow files.* --allow http.request",
                    "  keelson workspaces tools acme --deny process.run", "  keelson workspaces tools acme --all"})
    static final class Tools extends CliCommand {

        @Parameters(paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @ArgGroup(exclusive = false)
        @Nullable Rule rule;

        @Option(names = "--all", description = "Allow and deny nothing in particular: all tools again.")
        boolean all;

        static final class Rule {
            @Option(names = "--allow", paramLabel = "TOOL",
                    description = "A tool, or a group such as files.*, that may be used; others may not. Repeatable.")
            List<String> allowed = new ArrayList<>();

            @Option(names = "--deny", paramLabel = "TOOL",
                    description = "A tool, or a group, that may not be used though it is allowed. Repeatable.")
            List<String> denied = new ArrayList<>();
        }

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            if (all && rule != null) {
                throw CliException.usage("USAGE", "give --allow and --deny, or --all");
            }
            boolean change = all || rule != null;
            try (ServerConnection server = link(change)) {
                Keelson keelson = server.keelson();
                String id = WorkspaceIds.of(keelson, workspace);
                if (change) {
                    keelson.workspaces().tools(id, rule == null || rule.allowed.isEmpty() ? null : rule.allowed,
                            rule == null ? List.of() : rule.denied);
                }
                show(this, keelson.workspaces().get(id));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "autonomy",
            description = "Sets the autonomy level of a workspace's missions that name none; without a level shows it.",
            footerHeading = "%nExamples:%n",
            footer = {"  keelson workspaces autonomy acme approve   # a person approves each plan",
                    "  keelson workspaces autonomy acme --none"})
    static final class Autonomy extends CliCommand {

        @Parameters(index = "0", paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @Parameters(index = "1", arity = "0..1", paramLabel = "LEVEL",
                description = "approve, autonomous or full_auto.")
        @Nullable String level;

        @Option(names = "--none", description = "No default: a plan that is given counts as approved again.")
        boolean none;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            if (none && level != null) {
                throw CliException.usage("USAGE", "give a level or --none");
            }
            boolean change = none || level != null;
            try (ServerConnection server = link(change)) {
                Keelson keelson = server.keelson();
                String id = WorkspaceIds.of(keelson, workspace);
                if (change) {
                    keelson.workspaces().autonomy(id, level);
                }
                show(this, keelson.workspaces().get(id));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "close",
            description = "Closes a workspace permanently: its keys stop working and its open runs are cancelled. Stored data stays.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces close acme"})
    static final class Close extends CliCommand {

        @Parameters(paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                Keelson keelson = server.keelson();
                show(this, keelson.workspaces().close(WorkspaceIds.of(keelson, workspace)));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "delete",
            description = "Closes a workspace and removes its data in the background. Its ledger and the audit log stay.",
            footerHeading = "%nExamples:%n", footer = {"  keelson workspaces delete acme --yes"})
    static final class Delete extends CliCommand {

        @Parameters(paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace;

        @Option(names = {"-y", "--yes"}, description = "Do not ask for confirmation.")
        boolean yes;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                Keelson keelson = server.keelson();
                String id = WorkspaceIds.of(keelson, workspace);
                Boolean sure = yes ? Boolean.TRUE
                        : Terminals.interactive()
                                ? Prompt.ask(out(), "permanently delete all data of workspace " + id + "?")
                                : null;
                if (sure == null) {
                    throw CliException.usage("CONFIRMATION_NEEDED",
                            "this permanently removes all data of workspace " + id
                                    + "; without a terminal, --yes is required");
                }
                if (!sure) {
                    note("nothing was changed");
                    return ExitCode.OK;
                }
                show(this, keelson.workspaces().delete(id));
                return ExitCode.OK;
            }
        }
    }
}
