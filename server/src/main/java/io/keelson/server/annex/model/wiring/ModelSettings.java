package io.keelson.server.annex.model.wiring;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the models that the server calls. The text form shows no variable.
 *
 * @param file absolute; null for no models
 * @param environment variables that the file may name; empty without a file
 */
public record ModelSettings(@Nullable Path file, Map<String, String> environment) {

    /** No models. */
    public static final ModelSettings NONE = new ModelSettings(null, Map.of());

    public ModelSettings {
        environment = Map.copyOf(environment);
    }

    @Override
    public String toString() {
        return "Models[file=" + file + "]";
    }
}
