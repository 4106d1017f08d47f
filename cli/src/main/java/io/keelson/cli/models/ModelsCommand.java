package io.keelson.cli.models;

import io.keelson.api.money.TokenPrices;
import io.keelson.api.work.ModelInfo;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.server.mission.plan.NameSuggestion;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "models",
        description = "Lists the models that the server calls, with prices in credits per million tokens. An operator configures them in the file that KEELSON_MODELS names.",
        subcommands = {ModelsCommand.Show.class, CheckCommand.class},
        footer = {"  keelson models", "  keelson models show small", "  keelson models check small"})
public final class ModelsCommand extends ListCommand<ModelInfo> {

    ModelsCommand() {
        super("the server has no models: set KEELSON_MODELS, see docs/guide/models.md", "MODEL", "ALLOWED", "FAMILY",
                "CONTEXT", "MAX OUTPUT", "INPUT", "OUTPUT");
    }

    @Override
    protected List<ModelInfo> items(Keelson keelson) {
        return keelson.models();
    }

    @Override
    protected List<String> row(ModelInfo model) {
        return List.of(TerminalText.clean(model.name()), model.allowed() ? "yes" : "no",
                TerminalText.clean(model.family()), Long.toString(model.contextTokens()),
                Long.toString(model.maxOutputTokens()), input(model.usdPerMillionTokens()),
                output(model.usdPerMillionTokens()));
    }

    private static String input(@Nullable TokenPrices usd) {
        return usd == null ? "no price" : AmountText.decimal(usd.input());
    }

    private static String output(@Nullable TokenPrices usd) {
        return usd == null ? "" : AmountText.decimal(usd.output());
    }

    @Command(name = "show", description = "Shows a model: its provider, limits, prices and fallbacks; never its key.",
            footer = "  keelson models show small")
    static final class Show extends ClientCommand {

        @Parameters(paramLabel = "NAME", description = "Name of the model in plans.")
        String name;

        @Override
        protected void run(Keelson keelson) {
            List<ModelInfo> models = keelson.models();
            ModelInfo model = models.stream().filter(each -> each.name().equals(name)).findFirst()
                    .orElseThrow(() -> CliException.failed("MODEL_NOT_FOUND", "the server has no model '" + name
                            + "'" + NameSuggestion.hint(name, models.stream().map(ModelInfo::name).toList())
                            + "; `" + ProgramName.current() + " models` lists them"));
            show(model, this::lines);
        }

        private List<String> lines(ModelInfo model) {
            List<String> lines = new ArrayList<>();
            lines.add(style().bold(TerminalText.clean(model.name()))
                    + (model.allowed() ? "" : "  the workspace may not use it"));
            line(lines, "model", TerminalText.clean(model.model()) + ", family " + TerminalText.clean(model.family()));
            line(lines, "provider", model.wire() + (model.baseUrl() == null ? ""
                    : " at "
                            + TerminalText.clean(model.baseUrl())));
            line(lines, "context", model.contextTokens() + " tokens, output at most " + model.maxOutputTokens());
            TokenPrices usd = model.usdPerMillionTokens();
            line(lines, "prices", usd == null ? "none"
                    : "input " + AmountText.decimal(usd.input()) + ", cache read " + cached(usd.cacheRead(), usd)
                            + ", cache write " + cached(usd.cacheWrite(), usd) + ", output "
                            + AmountText.decimal(usd.output()) + " credits per million tokens");
            line(lines, "fallback", model.fallback().isEmpty() ? "none"
                    : TerminalText.clean(String.join(", ", model.fallback())) + ", after "
                            + model.fallbackAfterSeconds()
                            + " s");
            return lines;
        }

        private static String cached(@Nullable BigDecimal price, TokenPrices usd) {
            return AmountText.decimal(Objects.requireNonNullElse(price, usd.input()));
        }

        private static void line(List<String> lines, String label, String text) {
            lines.add(String.format("%-10s %s", label, text));
        }
    }
}
