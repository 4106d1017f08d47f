package io.keelson.cli.common;

import io.keelson.api.definition.Recipe;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Keelson;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A mission file with the input values of the command line. An input declared with
 * {@code format: path} is a path on the machine of the command line: relative values are relative to its
 * working folder.
 */
public final class MissionFile {

    private static final String INPUT = "/input/";

    private static final String INVALID = "INVALID_MISSION";

    private final DocumentFile file;
    private final ObjectNode document;
    private final Set<Path> folders = new LinkedHashSet<>();
    /** The values of {@code --input}. */
    private final Map<String, String> values = new HashMap<>();

    private MissionFile(DocumentFile file) {
        this.file = file;
        this.document = file.document();
    }

    /** @param file {@code -} for standard input */
    public static MissionFile read(String file) {
        return new MissionFile(DocumentFile.read(file, "mission", INVALID));
    }

    /**
     * Sets input values. A value of an input that is declared as text is used unchanged, any other is read as
     * JSON where it is JSON.
     */
    public void inputs(Map<String, String> given, Path workingFolder) {
        values.putAll(given);
        JsonNode declared = document.path("inputs");
        ObjectNode input = document.withObjectProperty("input");
        given.forEach((key, value) -> input.set(key,
                value(value, declared.path(key).path("type").asString("").equals("string"))));
        declared.properties().forEach(each -> path(each.getKey(), each.getValue(), input, workingFolder));
        if (input.isEmpty()) {
            document.remove("input");
        }
    }

    /** Uses unchanged the values of inputs that the mission's recipe on the server declares as text. */
    public void ofRecipe(Keelson keelson) {
        if (!values.isEmpty() && MissionCheck.ofRecipe(document)) {
            JsonNode declared = recipe(keelson).map(Recipe::inputs).orElse(MissingNode.getInstance());
            ObjectNode input = document.withObjectProperty("input");
            values.forEach((key, value) -> {
                if (declared.path(key).path("type").asString("").equals("string")) {
                    input.put(key, value);
                }
            });
        }
    }

    /** The recipe that the server would use: by name, by id, or the template of the goal's kind. */
    private Optional<Recipe> recipe(Keelson keelson) {
        return document.has("recipe") ? keelson.recipes().find(document.path("recipe").asString(""))
                : keelson.recipes().ofKind(document.path("kind").asString(""));
    }

    /** @param asText whether to take the text unchanged; otherwise valid JSON is parsed */
    public static JsonNode value(String text, boolean asText) {
        if (!asText) {
            try {
                return Json.read(text);
            } catch (JacksonException e) {
                // text that is no JSON is meant as text
            }
        }
        return JsonNodeFactory.instance.stringNode(text);
    }

    private void path(String key, JsonNode declaration, ObjectNode input, Path workingFolder) {
        JsonNode value = input.has(key) ? input.get(key) : declaration.path("default");
        if (declaration.path("format").asString("").equals("path") && value.isString()) {
            Path path = workingFolder.resolve(value.stringValue()).normalize();
            input.put(key, path.toString());
            folders.add(Files.isDirectory(path) || path.getParent() == null ? path : path.getParent());
        }
    }

    public void rename(String newName) {
        document.put("name", newName);
    }

    /** Sets the external id; null keeps the file's value. */
    public void externalId(@Nullable String id, @Nullable String policy) {
        if (id != null) {
            document.put("external_id", id);
        }
        if (policy != null) {
            document.put("external_id_policy", policy);
        }
    }

    /** The body of {@code POST /runs}. */
    public ObjectNode document() {
        return document;
    }

    /** Folders that inputs of {@code format: path} name, or in which the named files are. */
    public List<Path> folders() {
        return new ArrayList<>(folders);
    }

    /** Problems of the mission; one of a value from {@code --input} has no line. */
    public CliException invalid(List<PlanProblem> problems) {
        List<PlanProblem> named = problems.stream().map(problem -> option(problem)
                .map(option -> new PlanProblem(problem.code(), problem.pointer(), option + ": " + problem.message()))
                .orElse(problem)).toList();
        return problems.stream().allMatch(problem -> option(problem).isPresent())
                ? CliException.invalid("INVALID_INPUT", AmountText.count(problems.size(), "value")
                        + " given with --input cannot be used", named, pointer -> Optional.empty())
                : file.invalid(INVALID, named, pointer -> option(pointer).isEmpty());
    }

    private Optional<String> option(PlanProblem problem) {
        return option(problem.pointer());
    }

    /** The option that a pointer is about; empty where it is about the file. */
    private Optional<String> option(String pointer) {
        return values.keySet().stream().filter(each -> (pointer + "/").startsWith(INPUT + escaped(each) + "/"))
                .findFirst()
                .map(each -> "--input " + each);
    }

    private static String escaped(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }
}
