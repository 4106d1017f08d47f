package io.keelson.cli.definitions;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Recipe;
import io.keelson.client.RecipeRunRequest;
import io.keelson.client.Run;
import io.keelson.client.plan.Mission;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "recipes", description = "Lists recipes: stored missions to run again.",
        subcommands = {RecipesCommand.Show.class, RecipesCommand.Save.class, RecipesCommand.Create.class,
                RecipesCommand.RunIt.class, RecipesCommand.Delete.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson recipes", "  keelson recipes save latest --name nightly",
                "  keelson recipes create mission.yaml", "  keelson recipes run nightly --input path=."})
public final class RecipesCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            if (json) {
                print(server.keelson().api().get("/recipes?limit=500"));
            } else {
                List<Recipe> recipes = server.keelson().recipes().list();
                print(recipes.isEmpty() ? List.of("no recipes") : table(recipes, clock().instant()));
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<Recipe> recipes, Instant now) {
        Table table = new Table("NAME", "VERSION", "INPUTS", "CHANGED");
        recipes.forEach(recipe -> table.row(recipe.name(), String.valueOf(recipe.version()), inputs(recipe),
                AmountText.duration(Duration.between(recipe.updatedAt(), now)) + " ago"));
        return table.lines(style());
    }

    private static String inputs(Recipe recipe) {
        return recipe.inputs().properties().stream().map(input -> input.getKey() + (input.getValue().has("default") ? ""
                : "*")).collect(Collectors.joining(" "));
    }

    /** A recipe by its name or id. */
    static Recipe named(Keelson keelson, String nameOrId) {
        Recipe found = keelson.recipes().find(nameOrId).orElseThrow(() -> CliException.failed("RECIPE_NOT_FOUND",
                "no recipe '" + nameOrId + "'", null));
        return keelson.recipes().get(found.id());
    }

    private static void said(CliCommand command, Recipe recipe, String what) {
        if (command.json) {
            command.print(Json.document(recipe));
        } else {
            command.print(List.of(recipe.name() + " " + what + ", version " + recipe.version()));
        }
    }

    @Command(name = "show", description = "Shows a recipe: its mission, as a mission file in JSON.")
    static final class Show extends CliCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the recipe.")
        String name = "";

        @Option(names = "--version", paramLabel = "N", description = "Show that version.")
        @Nullable Integer version;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link()) {
                String id = named(server.keelson(), name).id();
                Recipe recipe = version == null ? server.keelson().recipes().get(id)
                        : server.keelson().recipes().get(id, version);
                if (json) {
                    print(Json.document(recipe));
                } else {
                    print(recipe.mission().toPrettyString().lines().toList());
                }
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "save", description = {"Saves a completed run as a recipe.",
            "Its inputs become parameters, with the run's values as defaults."})
    static final class Save extends CliCommand {

        @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
        String run = "";

        @Option(names = "--name", paramLabel = "NAME", description = "The recipe's name, instead of the run's.")
        @Nullable String name;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                said(this, server.keelson().recipes().save(RunDocuments.id(server.keelson(), run), name), "is saved");
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "create",
            description = "Stores a mission file as a recipe, or as a new version of the recipe with its name.")
    static final class Create extends CliCommand {

        @Parameters(paramLabel = "FILE", description = "The mission, YAML or JSON; - for standard input.")
        String file = "";

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            ObjectNode document = MissionFile.read(file).document();
            Mission mission = Mission.of(document);
            try (ServerConnection server = link(true)) {
                String name = document.path("name").asString("");
                Recipe kept = server.keelson().recipes().byName(name)
                        .map(there -> server.keelson().recipes().replace(there.id(), mission))
                        .orElseGet(() -> server.keelson().recipes().create(mission));
                said(this, kept, "is stored");
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "run", description = "Starts a run of a recipe on a running server.")
    static final class RunIt extends CliCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the recipe.")
        String name = "";

        @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE",
                description = "The value of an input; repeatable.")
        Map<String, String> inputs = new LinkedHashMap<>();

        @Option(names = "--name", paramLabel = "NAME", description = "The run's name.")
        @Nullable String runName;

        @Option(names = "--at", paramLabel = "TIME", description = "Start it at that time, as with `keelson run --at`.")
        @Nullable String at;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            Keelson keelson = ServerConnection.existing(settings());
            Recipe recipe = named(keelson, name);
            Map<String, JsonNode> values = new LinkedHashMap<>();
            inputs.forEach((key, value) -> values.put(key, MissionFile.value(value,
                    recipe.inputs().path(key).path("type").asString("").equals("string"))));
            RecipeRunRequest request = RecipeRunRequest.of(values);
            if (runName != null) {
                request.name(runName);
            }
            if (at != null) {
                request.startAt(TimeArgument.of(at));
            }
            Run run = keelson.recipes().run(recipe.id(), request);
            if (json) {
                print(RunDocuments.run(keelson, run.id()));
            } else {
                print(List.of(run.id()));
                note(run.state().equals("created") ? "it starts at " + run.startAt()
                        : "started; follow it with: " + ProgramName.current() + " watch " + run.id());
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "delete", description = "Deletes a recipe; its runs stay.")
    static final class Delete extends CliCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the recipe.")
        String name = "";

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                Recipe recipe = named(server.keelson(), name);
                server.keelson().recipes().delete(recipe.id());
                if (!json) {
                    print(List.of(recipe.name() + " is deleted"));
                }
                return ExitCode.OK;
            }
        }
    }
}
