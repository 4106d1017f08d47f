package io.keelson.cli.models;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.annex.model.call.ProviderCheck.Outcome;
import io.keelson.server.annex.model.call.ProviderCheck.Probe;
import io.keelson.server.annex.model.registry.ConfiguredModel;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.wiring.ModelConfiguration;
import io.keelson.server.app.KeelsonVersion;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.mission.plan.NameSuggestion;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "check", description = {
        "Probes the provider of a model from this machine: answer, usage, stream, output limit, tool call and result, output schema, cache, cancel.",
        "Reads the file that KEELSON_MODELS names, and needs no server. Sends about twelve small requests, which the provider bills. The result never contains the key: add it to a bug report."},
        footer = {"  keelson models check small",
                "  keelson models check gpt-5.4-mini --url https://api.openai.com/v1 --wire openai-responses --key-env OPENAI_API_KEY",
                "  keelson models check any --url http://127.0.0.1:7332/v1 --wire openai-chat   # dev-model"})
final class CheckCommand extends CliCommand {

    @Parameters(paramLabel = "NAME",
            description = "A model of the file; with --url, as the provider names the model.")
    String name;

    @ArgGroup(exclusive = false)
    @Nullable Provider provider;

    @Option(names = "--timeout", paramLabel = "TIME", converter = DurationArgument.class,
            description = "Timeout of each request; default: 60s.")
    Duration timeout = Duration.ofSeconds(60);

    /** A provider that is in no file. */
    static final class Provider {
        @Option(names = "--url", paramLabel = "URL", required = true, description = "The provider's address.")
        String url = "";

        @Option(names = "--wire", paramLabel = "WIRE", required = true,
                description = "openai-responses, openai-chat or anthropic-messages.")
        String wire = "";

        @Option(names = "--key-env", paramLabel = "NAME",
                description = "The environment variable with the key; absent: the provider needs none.")
        @Nullable String keyEnv;
    }

    @Override
    public Integer call() throws InterruptedException {
        ModelEndpoint endpoint = provider == null ? configured() : given(provider);
        List<Probe> probes = ModelConfiguration.check(endpoint, timeout, clock());
        if (json) {
            print(document(endpoint, probes));
        } else {
            print(List.of("keelson " + KeelsonVersion.current() + ", " + endpoint.wire().wire() + " at "
                    + TerminalText.clean(endpoint.baseUrl().toString()) + ", model "
                    + TerminalText.clean(endpoint.model()), ""));
            Table table = new Table("PROBE", "RESULT", "MS", "REQUEST", "DETAIL");
            probes.forEach(probe -> table.row(probe.name(), word(probe.outcome()), Long.toString(probe.millis()),
                    TerminalText.clean(probe.requestId()),
                    TerminalText.clean(probe.detail())));
            print(table.lines(style()));
        }
        return probes.stream().anyMatch(probe -> probe.outcome() == Outcome.FAILED) ? ExitCode.FAILED : ExitCode.OK;
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }

    private static ObjectNode document(ModelEndpoint endpoint, List<Probe> probes) {
        ObjectNode document =
                Json.object().put("keelson", KeelsonVersion.current().toString()).put("wire", endpoint.wire().wire())
                        .put("base_url", endpoint.baseUrl().toString()).put("model", endpoint.model());
        ArrayNode items = document.putArray("items");
        probes.forEach(probe -> items.addObject().put("probe", probe.name()).put("result", word(probe.outcome()))
                .put("millis", probe.millis()).put("request_id", probe.requestId()).put("detail", probe.detail()));
        return document;
    }

    private ModelEndpoint configured() {
        Models models;
        try {
            models = ModelConfiguration.read(settings().models());
        } catch (StartupException e) {
            throw CliException.startup(e);
        }
        return models.find(name).map(ConfiguredModel::endpoint).orElseThrow(() -> CliException.failed("MODEL_NOT_FOUND",
                "the file that KEELSON_MODELS names has no model '" + name + "'"
                        + NameSuggestion.hint(name, models.all().stream().map(ConfiguredModel::name).toList())
                        + "; for a provider that is in no file give --url and --wire"));
    }

    private ModelEndpoint given(Provider of) {
        WireKind wire = Arrays.stream(WireKind.values()).filter(kind -> kind.wire().equals(of.wire)).findFirst()
                .orElseThrow(() -> CliException.usage("INVALID_WIRE", "--wire must be one of "
                        + Arrays.stream(WireKind.values()).map(WireKind::wire).collect(Collectors.joining(", "))
                        + ", not '" + of.wire + "'"));
        String key = of.keyEnv == null ? "" : environment().getOrDefault(of.keyEnv, "").strip();
        if (of.keyEnv != null && key.isEmpty()) {
            throw CliException.usage("KEY_MISSING", "the environment variable that --key-env names is not set");
        }
        return new ModelEndpoint(name, wire, url(of.url), name, key, Map.of());
    }

    private static URI url(String text) {
        try {
            URI url = new URI(text.replaceAll("/+$", ""));
            if (url.getHost() != null && List.of("http", "https").contains(Objects.toString(url.getScheme(), ""))
                    && url.getUserInfo() == null) {
                return url;
            }
        } catch (URISyntaxException e) {
            // refused below, like a URL of another kind
        }
        throw CliException.usage("INVALID_URL",
                "--url must be an address such as https://api.openai.com/v1, without user");
    }
}
