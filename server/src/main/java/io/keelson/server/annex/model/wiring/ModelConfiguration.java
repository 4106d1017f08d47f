package io.keelson.server.annex.model.wiring;

import io.keelson.core.plan.PlanProblem;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.call.ProviderCheck;
import io.keelson.server.annex.model.registry.KeySources;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.registry.ModelsFile;
import io.keelson.server.annex.model.wire.HttpModelClient;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.base.problem.FileProblems;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.money.PriceChange;
import io.keelson.server.tenant.money.PriceKind;
import io.keelson.server.tenant.money.PriceTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/** Reads the models that the settings name, and sets their prices in the price list. */
public final class ModelConfiguration {

    /** The author of prices from the models' file in the price list. */
    static final String AUTHOR = "models file";

    /** How long an answer of one word may take. */
    private static final Duration ANSWER = Duration.ofSeconds(20);

    private ModelConfiguration() {}

    /**
     * Reads the file; no models without one.
     *
     * @throws StartupException {@code MODELS_FILE_INVALID} with all problems and without keys
     */
    public static Models read(ModelSettings settings) throws StartupException {
        Path file = settings.file();
        if (file == null) {
            return Models.NONE;
        }
        byte[] content;
        try {
            content = Files.readAllBytes(file);
        } catch (IOException e) {
            throw new StartupException("MODELS_FILE_INVALID", "cannot read the file " + file
                    + " that KEELSON_MODELS names: " + FileProblems.reason(e), e);
        }
        KeySources keys = new KeySources(settings.environment(), folder(file), FileProblems::reason);
        return switch (ModelsFile.read(content, file.toString(), keys)) {
            case ReadResult.Ok<Models>(Models models) -> models;
            case ReadResult.Invalid<Models>(List<PlanProblem> problems) -> throw new StartupException(
                    "MODELS_FILE_INVALID", "cannot use the file " + file + " that KEELSON_MODELS names: "
                            + problems.stream().map(each -> each.pointer() + ": " + each.message())
                                    .collect(Collectors.joining("; ")),
                    null);
        };
    }

    /**
     * Probes a provider from this machine, without a server.
     *
     * @param timeout of each request
     */
    public static List<ProviderCheck.Probe> check(ModelEndpoint endpoint, Duration timeout, Clock clock)
            throws InterruptedException {
        try (OutboundClient outbound = new OutboundClient(true)) {
            return new ProviderCheck(new HttpModelClient(outbound, clock, System::nanoTime), endpoint, timeout).run();
        }
    }

    /** Asks a model for one word. */
    static ProviderCheck.Probe answers(ModelEndpoint endpoint, Clock clock) throws InterruptedException {
        try (OutboundClient outbound = new OutboundClient(true)) {
            return new ProviderCheck(new HttpModelClient(outbound, clock, System::nanoTime), endpoint, ANSWER)
                    .answers();
        }
    }

    private static Path folder(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        return folder == null ? file.toAbsolutePath() : folder;
    }

    /** Prices that are in force already make no new version of the list. */
    public static void setPrices(Models models, PriceTable prices) {
        List<PriceChange> changes = models.prices().entrySet().stream()
                .map(each -> new PriceChange(PriceKind.MODEL, each.getKey(), null, each.getValue())).toList();
        if (!changes.isEmpty()) {
            prices.change(changes, AUTHOR, (c, version, changed) -> {
                ObjectNode detail = Json.object();
                changed.forEach(change -> detail.set("model " + change.name(),
                        Json.MAPPER.valueToTree(change.usdPerMillion())));
                AuditLog.write(c, AuditOrigin.SERVER, "prices_changed", Bootstrap.DEFAULT_WORKSPACE,
                        Integer.toString(version), detail);
            });
        }
    }
}
