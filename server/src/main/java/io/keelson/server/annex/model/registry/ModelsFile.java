package io.keelson.server.annex.model.registry;

import io.keelson.core.money.TokenPrices;
import io.keelson.core.plan.PlanProblem;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.plan.SchemaCheck;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads the file of an operator that configures models; collects every problem before it gives up. */
public final class ModelsFile {

    private static final String SCHEMA = "/schema/models.schema.json";

    private static final int FALLBACK_AFTER_SECONDS = 60;

    private final KeySources keys;
    private final JsonNode models;
    private final List<PlanProblem> problems = new ArrayList<>();

    private ModelsFile(JsonNode models, KeySources keys) {
        this.models = models;
        this.keys = keys;
    }

    /**
     * Reads a file's content. Problems have JSON pointers into it and contain no key.
     *
     * @param name of the file; its ending says whether it is JSON or YAML
     * @param keys where keys are read from
     */
    public static ReadResult<Models> read(byte[] content, String name, KeySources keys) {
        return switch (Documents.read(content, Format.ofFile(name))) {
            case ReadResult.Invalid<JsonNode>(List<PlanProblem> problems) -> new ReadResult.Invalid<>(problems);
            case ReadResult.Ok<JsonNode>(JsonNode document) -> read(document, keys);
        };
    }

    private static ReadResult<Models> read(JsonNode document, KeySources keys) {
        JsonNode schema = schema();
        List<PlanProblem> shape = SchemaCheck.of(schema, schema).check(document);
        return shape.isEmpty() ? new ModelsFile(document.path("models"), keys).models()
                : new ReadResult.Invalid<>(shape);
    }

    private static JsonNode schema() {
        try (InputStream in = Objects.requireNonNull(ModelsFile.class.getResourceAsStream(SCHEMA))) {
            return Json.MAPPER.readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ReadResult<Models> models() {
        List<ConfiguredModel> read = new ArrayList<>();
        models.forEachEntry((name, entry) -> {
            ConfiguredModel model = model(name, entry, "/models/" + name.replace("/", "~1"));
            if (model != null) {
                read.add(model);
            }
        });
        List<Path> files = keys.files();
        return problems.isEmpty() ? new ReadResult.Ok<>(new Models(read, files)) : new ReadResult.Invalid<>(problems);
    }

    /** Null where a part cannot be used. */
    private @Nullable ConfiguredModel model(String name, JsonNode entry, String at) {
        URI url = baseUrl(entry.get("base_url").asString(), at + "/base_url");
        String key = entry.has("api_key") ? key(entry.get("api_key"), at + "/api_key") : "";
        Map<String, String> headers = headers(entry.path("headers"), at + "/headers");
        int context = entry.get("context_tokens").asInt();
        int output = entry.get("max_output_tokens").asInt();
        if (output > context) {
            refuse("OUT_OF_RANGE", at + "/max_output_tokens", output + " is more than context_tokens, " + context);
        }
        List<String> fallback = fallback(name, entry.path("fallback"), at + "/fallback");
        boolean background = entry.path("background").asBoolean(false);
        if (background && WireKind.of(entry.get("wire").asString()) != WireKind.OPENAI_RESPONSES) {
            refuse("INVALID_VALUE", at + "/background", "only the wire openai-responses has answers in the background");
        }
        if (url == null || key == null) {
            return null;
        }
        return new ConfiguredModel(name, WireKind.of(entry.get("wire").asString()), url, entry.get("model").asString(),
                entry.get("family").asString(), current(entry.path("api_key"), key), headers, context, output,
                entry.has("bytes_per_token") ? entry.get("bytes_per_token").decimalValue() : BigDecimal.ONE,
                prices(entry.path("prices")), fallback,
                Duration.ofSeconds(entry.path("fallback_after_seconds").asInt(FALLBACK_AFTER_SECONDS)),
                RecordRequests.of(entry.path("record_requests").asString("failed")), background);
    }

    private @Nullable URI baseUrl(String text, String at) {
        try {
            URI url = new URI(text.replaceAll("/+$", ""));
            if (url.getHost() != null && List.of("http", "https").contains(String.valueOf(url.getScheme()))
                    && url.getUserInfo() == null && url.getQuery() == null && url.getFragment() == null) {
                return url;
            }
        } catch (URISyntaxException e) {
            // refused below, like a URL of another kind
        }
        refuse("INVALID_VALUE", at,
                "must be an address such as https://api.example.com/v1, without user, query and fragment");
        return null;
    }

    /** A file's key may be replaced while the server runs. */
    private Supplier<String> current(JsonNode source, String key) {
        return source.has("file") ? keys.current(source.get("file").asString(), key) : () -> key;
    }

    /** The value is not shown: it may be a key in the wrong place. */
    private @Nullable String key(JsonNode source, String at) {
        try {
            return source.isString() ? KeySources.usable(source.stringValue(), "this value")
                    : source.has("env") ? keys.variable(source.get("env").asString())
                            : keys.file(source.get("file").asString());
        } catch (KeySources.UnavailableException e) {
            refuse("INVALID_VALUE", at, String.valueOf(e.getMessage()));
            return null;
        }
    }

    private Map<String, String> headers(JsonNode headers, String at) {
        Map<String, String> values = new TreeMap<>();
        headers.forEachEntry((name, value) -> {
            String text = key(value, at + "/" + name);
            if (text != null) {
                values.put(name, text);
            }
        });
        return values;
    }

    private List<String> fallback(String name, JsonNode names, String at) {
        List<String> fallback = names.valueStream().map(JsonNode::asString).toList();
        for (int i = 0; i < fallback.size(); i++) {
            String other = fallback.get(i);
            if (other.equals(name) || !models.has(other)) {
                refuse("INVALID_VALUE", at + "/" + i, "'" + other + "' is no other model of this file");
            }
        }
        return fallback;
    }

    private static @Nullable TokenPrices prices(JsonNode prices) {
        return prices.isMissingNode() ? null
                : new TokenPrices(prices.get("input").decimalValue(), amount(prices, "cache_read"),
                        amount(prices, "cache_write"), prices.get("output").decimalValue());
    }

    private static @Nullable BigDecimal amount(JsonNode prices, String name) {
        return prices.has(name) ? prices.get(name).decimalValue() : null;
    }

    private void refuse(String code, String at, String message) {
        problems.add(new PlanProblem(code, at, message));
    }
}
