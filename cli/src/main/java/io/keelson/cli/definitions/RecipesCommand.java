package io.keelson.cli.definitions;

import io.keelson.api.definition.Recipe;
import io.keelson.api.run.Run;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.TimeArgument;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.RecipeRunRequest;
import io.keelson.client.plan.Mission;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
        footer = {"  keelson recipes", "  keelson recipes save latest --name nightly",
                "  keelson recipes create mission.yaml", "  keelson recipes run nightly --input path=."})
public final class RecipesCommand extends ListCommand<Recipe> {

    RecipesCommand() {
        super("no recipes", "NAME", "VERSION", "INPUTS", "CHANGED");
    }

    @Override
    protected List<Recipe> items(Keelson keelson) {
        return keelson.recipes().list();
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.api().get("/recipes?limit=500");
    }

    @Override
    protected List<String> row(Recipe recipe) {
        return List.of(recipe.name(), String.valueOf(recipe.version()), inputs(recipe),
                AmountText.duration(Duration.between(recipe.updatedAt(), clock().instant())) + " ago");
    }

    private static String inputs(Recipe recipe) {
        return recipe.inputs().properties().stream().map(input -> input.getKey() + (input.getValue().has("default") ? ""
                : "*")).collect(Collectors.joining(" "));
    }

    /** A recipe by its name or id. */
    static Recipe named(Keelson keelson, String nameOrId) {
        Recipe found = keelson.recipes().find(nameOrId).orElseThrow(() -> CliException.failed("RECIPE_NOT_FOUND",
                "no recipe '" + nameOrId + "'"));
        return keelson.recipes().get(found.id());
    }

    private static String said(Recipe recipe, String what) {
        return recipe.name() + " " + what + ", version " + recipe.version();
    }

    @Command(name = "show", description = "Shows a recipe: its mission, as a mission file in JSON.")
    static final class Show extends ClientCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the recipe.")
        String name = "";

        @Option(names = "--version", paramLabel = "N", description = "Show that version.")
        @Nullable Integer version;

        @Override
        protected void run(Keelson keelson) {
            String id = named(keelson, name).id();
            Recipe recipe = version == null ? keelson.recipes().get(id)
                    : keelson.recipes().get(id, version);
            show(recipe, any -> Objects.requireNonNull(any.mission()).toPrettyString().lines().toList());
        }
    }

    @Command(name = "save", description = {"Saves a completed run as a recipe.",
            "Its inputs become parameters, with the run's values as defaults."})
    static final class Save extends ChangeCommand {

        @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
        String run = "";

        @Option(names = "--name", paramLabel = "NAME", description = "The recipe's name, instead of the run's.")
        @Nullable String name;

        @Override
        protected void run(Keelson keelson) {
            Recipe saved = keelson.recipes().save(RunDocuments.id(keelson, run), name);
            show(saved, said(saved, "is saved"));
        }
    }

    @Command(name = "create",
            description = "Stores a mission file as a recipe, or as a new version of the recipe with its name.")
    static final class Create extends ChangeCommand {

        @Parameters(paramLabel = "FILE", description = "The mission, YAML or JSON; - for standard input.")
        String file = "";

        private ObjectNode document = Json.object();

        @Override
        protected void prepare() {
            document = MissionFile.read(file).document();
        }

        @Override
        protected void run(Keelson keelson) {
            Mission mission = Mission.of(document);
            Recipe kept = keelson.recipes().byName(document.path("name").asString(""))
                    .map(there -> keelson.recipes().replace(there.id(), mission))
                    .orElseGet(() -> keelson.recipes().create(mission));
            show(kept, said(kept, "is stored"));
        }
    }

    @Command(name = "run", description = "Starts a run of a recipe on a running server.")
    static final class RunIt extends ClientCommand {

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
        protected void run(Keelson keelson) {
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
        }
    }

    @Command(name = "delete", description = "Deletes a recipe; its runs stay.")
    static final class Delete extends ChangeCommand {

        @Parameters(paramLabel = "NAME", description = "Name or id of the recipe.")
        String name = "";

        @Override
        protected void run(Keelson keelson) {
            Recipe recipe = named(keelson, name);
            keelson.recipes().delete(recipe.id());
            say(recipe.name() + " is deleted");
        }
    }
}
