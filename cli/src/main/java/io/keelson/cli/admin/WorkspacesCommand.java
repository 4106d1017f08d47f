package io.keelson.cli.admin;

import io.keelson.api.tenant.Workspace;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Workspaces;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
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
        footer = {"  keelson workspaces",
                "  keelson workspaces create acme --limit steps=20",
                "  keelson keys create deployer --workspace acme --scope runs:write"})
public final class WorkspacesCommand extends ListCommand<Workspace> {

    WorkspacesCommand() {
        super("", "WORKSPACE", "STATE", "AGE", "NAME");
    }

    @Override
    protected List<Workspace> items(Keelson keelson) {
        return keelson.workspaces().list();
    }

    @Override
    protected List<String> row(Workspace each) {
        return List.of(each.id(), each.state(), age(each.createdAt()), TerminalText.clean(each.name()));
    }

    static List<String> lines(Workspace workspace, Style style) {
        List<String> lines = new ArrayList<>(List.of(style.bold(TerminalText.clean(workspace.name())),
                workspace.id() + "  " + workspace.state()));
        lines.addAll(LimitOptions.lines(workspace.limits(), workspace.use()));
        lines.add(String.format("%-20s %s", "folders", folders(workspace)));
        lines.add(String.format("%-20s %s", "models", names(workspace.allowedModels())));
        lines.add(String.format("%-20s %s", "tools", tools(workspace)));
        lines.add(String.format("%-20s %s", "autonomy",
                workspace.defaultAutonomy() == null ? "as missions say" : workspace.defaultAutonomy() + " by default"));
        return lines;
    }

    private static String folders(Workspace workspace) {
        List<String> folders = workspace.allowedFolders();
        return folders == null ? "from the server's settings"
                : folders.isEmpty() ? "none" : TerminalText.clean(String.join("  ", folders));
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
            footer = {"  keelson workspaces create acme",
                    "  keelson workspaces create acme --limit open_runs=100 --limit steps=20"})
    static final class Create extends ChangeCommand {

        @Parameters(paramLabel = "NAME", description = "Name shown to people.")
        String name;

        @Mixin
        LimitOptions limits = new LimitOptions();

        private final Map<String, Number> most = new LinkedHashMap<>();

        @Override
        protected void prepare() {
            limits.changes().forEach((limit, number) -> {
                if (number != null) {
                    most.put(limit, number);
                }
            });
        }

        @Override
        protected void run(Keelson keelson) {
            show(keelson.workspaces().create(name, most), made -> lines(made, style()));
            note("the workspace has no credits yet: " + ProgramName.current() + " credits grant N --workspace \"" + name
                    + "\"");
        }
    }

    /** Shows one workspace, after a change. */
    abstract static class One extends ClientCommand {

        @Parameters(index = "0", paramLabel = "WORKSPACE", description = "Id or name of the workspace.")
        String workspace = "";

        /** The workspace after the change; null if the user does not confirm it. */
        abstract @Nullable Workspace act(Workspaces workspaces, String id);

        @Override
        protected final void run(Keelson keelson) {
            Workspace shown = act(keelson.workspaces(), WorkspaceIds.of(keelson, workspace));
            if (shown != null) {
                show(shown, any -> lines(shown, style()));
            }
        }
    }

    /**
     * A change of a workspace's permissions.
     *
     * @param given whether it names permissions
     * @param instead whether an option replaces names
     * @param choices the arguments of which one kind may be given
     */
    record Change(boolean given, boolean instead, String choices, BiConsumer<Workspaces, String> apply) {}

    /** Sets the permissions of a workspace. Without a change, shows them. */
    abstract static class Setting extends One {

        abstract Change change();

        private boolean changes() {
            return change().given || change().instead;
        }

        @Override
        protected void prepare() {
            if (change().given && change().instead) {
                throw CliException.usage("USAGE", "give " + change().choices);
            }
        }

        @Override
        protected Work work() {
            return changes() ? Work.NONE : Work.OF_RUNNING_SERVER;
        }

        @Override
        Workspace act(Workspaces workspaces, String id) {
            if (changes()) {
                change().apply.accept(workspaces, id);
            }
            return workspaces.get(id);
        }
    }

    @Command(name = "show", description = "Shows a workspace: its limits and what it uses.",
            footer = {"  keelson workspaces show acme"})
    static final class Show extends One {

        @Override
        Workspace act(Workspaces workspaces, String id) {
            return workspaces.get(id);
        }
    }

    @Command(name = "limits",
            description = "Changes the limits of a workspace; without --limit shows the limits of your own.",
            footer = {"  keelson workspaces limits",
                    "  keelson workspaces limits acme --limit steps=20 --limit tool:gpu.render=2",
                    "  keelson workspaces limits acme --limit steps=none"})
    static final class Limits extends ClientCommand {

        @Parameters(arity = "0..1", paramLabel = "WORKSPACE",
                description = "Id or name of the workspace; your own by default.")
        @Nullable String workspace;

        @Mixin
        LimitOptions limits = new LimitOptions();

        private boolean changes() {
            return !limits.limits.isEmpty();
        }

        @Override
        protected Work work() {
            return changes() ? Work.NONE : Work.OF_RUNNING_SERVER;
        }

        @Override
        protected void run(Keelson keelson) {
            if (workspace != null) {
                String id = WorkspaceIds.of(keelson, workspace);
                if (changes()) {
                    keelson.workspaces().limit(id, limits.changes());
                }
                show(keelson.workspaces().get(id), shown -> lines(shown, style()));
            } else if (changes()) {
                throw CliException.usage("USAGE", "give the workspace whose limits to change");
            } else {
                show(keelson.limits(), own -> LimitOptions.lines(own.limits(), own.use()));
            }
        }
    }

    @Command(name = "folders",
            description = "Sets the folders of a workspace for file tools and processes, instead of KEELSON_ALLOWED_FOLDERS; without folders shows them.",
            footer = {"  keelson workspaces folders acme /srv/acme /srv/shared",
                    "  keelson workspaces folders acme --none", "  keelson workspaces folders acme --of-server"})
    static final class Folders extends Setting {

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
        Change change() {
            return new Change(!folders.isEmpty(), instead != null, "folders, --none or --of-server",
                    (all, id) -> all.folders(id, instead != null && instead.ofServer ? null : folders));
        }
    }

    @Command(name = "models",
            description = "Sets the models that plans and agents of a workspace may use; without models shows them.",
            footer = {"  keelson workspaces models acme small large",
                    "  keelson workspaces models acme --none", "  keelson workspaces models acme --all"})
    static final class Models extends Setting {

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
        Change change() {
            return new Change(!models.isEmpty(), instead != null, "models, --none or --all",
                    (workspaces, id) -> workspaces.models(id, instead != null && instead.all ? null : models));
        }
    }

    @Command(name = "tools",
            description = "Sets the tools that plans and agents of a workspace may use; without options shows them.",
            footer = {"  keelson workspaces tools acme --allow files.* --allow http.request",
                    "  keelson workspaces tools acme --deny process.run", "  keelson workspaces tools acme --all"})
    static final class Tools extends Setting {

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
        Change change() {
            return new Change(rule != null, all, "--allow and --deny, or --all",
                    (workspaces, id) -> workspaces.tools(id,
                            rule == null || rule.allowed.isEmpty() ? null : rule.allowed,
                            rule == null ? List.of() : rule.denied));
        }
    }

    @Command(name = "autonomy",
            description = "Sets the default autonomy level of a workspace's missions. Without a level, shows it.",
            footer = {"  keelson workspaces autonomy acme approve   # a person approves each plan",
                    "  keelson workspaces autonomy acme --none"})
    static final class Autonomy extends Setting {

        @Parameters(index = "1", arity = "0..1", paramLabel = "LEVEL",
                description = "approve, autonomous or full_auto.")
        @Nullable String level;

        @Option(names = "--none", description = "No default: a plan that is given counts as approved again.")
        boolean none;

        @Override
        Change change() {
            return new Change(level != null, none, "a level or --none",
                    (workspaces, id) -> workspaces.autonomy(id, level));
        }
    }

    @Command(name = "close",
            description = "Closes a workspace permanently: its keys stop working and its open runs are cancelled. Stored data stays.",
            footer = {"  keelson workspaces close acme"})
    static final class Close extends One {

        @Override
        protected Work work() {
            return Work.NONE;
        }

        @Override
        Workspace act(Workspaces workspaces, String id) {
            return workspaces.close(id);
        }
    }

    @Command(name = "delete",
            description = "Closes a workspace and removes its data in the background. Its ledger and the audit log stay.",
            footer = {"  keelson workspaces delete acme --yes"})
    static final class Delete extends One {

        @Option(names = {"-y", "--yes"}, description = "Do not ask for confirmation.")
        boolean yes;

        @Override
        protected Work work() {
            return Work.NONE;
        }

        @Override
        @Nullable Workspace act(Workspaces workspaces, String id) {
            return confirm(yes, "permanently delete all data of workspace " + id,
                    "this permanently removes all data of workspace " + id) ? workspaces.delete(id) : null;
        }
    }
}
