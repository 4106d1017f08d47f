package io.keelson.cli.billing;

import io.keelson.api.money.Price;
import io.keelson.api.money.PriceList;
import io.keelson.api.money.TokenPrices;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Prices;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "prices",
        description = "Lists the prices of this installation in credits (1 credit is 1 USD): of a tool per call, of a model per million tokens. The cost that a step reports overrides any price.",
        subcommands = {PricesCommand.Set.class, PricesCommand.Remove.class},
        footer = {"  keelson prices", "  keelson prices set model large --input 2.5 --cache-read 0.25 --output 10",
                "  keelson prices --at 3      # the list that an entry of the ledger names"})
public final class PricesCommand extends ClientCommand {

    @Option(names = "--at", paramLabel = "VERSION", description = "The list at that version.")
    @Nullable Integer version;

    @Override
    protected void run(Keelson keelson) {
        show(version == null ? keelson.prices().current() : keelson.prices().at(version),
                list -> lines(list, style()));
    }

    private static List<String> lines(PriceList list, Style style) {
        if (list.items().isEmpty()) {
            return List.of("no prices");
        }
        Table table =
                new Table("KIND", "NAME", "CALL", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "SINCE VERSION");
        for (Price price : list.items()) {
            List<String> cells = new ArrayList<>(List.of(price.kind(), TerminalText.clean(price.name()),
                    usd(price.usdPerCall())));
            cells.addAll(tokens(price.usdPerMillionTokens()));
            cells.add(Integer.toString(price.version()));
            table.row(cells.toArray(String[]::new));
        }
        return table.lines(style);
    }

    private static List<String> tokens(@Nullable TokenPrices usd) {
        return usd == null ? List.of("", "", "", "")
                : Stream.of(usd.input(), Objects.requireNonNullElse(usd.cacheRead(), usd.input()),
                        Objects.requireNonNullElse(usd.cacheWrite(), usd.input()), usd.output())
                        .map(PricesCommand::usd).toList();
    }

    private static String usd(@Nullable BigDecimal usd) {
        return usd == null ? "" : AmountText.decimal(usd);
    }

    @Command(name = "set",
            description = "Sets the price of a tool (per call) or the prices of a model (per million tokens) for future charges. Each is from 0 and has at most 6 decimal places, that of a tool 12.",
            footer = {"  keelson prices set model large --input 2.5 --cache-read 0.25 --output 10",
                    "  keelson prices set tool web.search 0.01"})
    static final class Set extends ChangeCommand {

        /** The kinds of prices. */
        enum Kind {
            TOOL, MODEL
        }

        @Parameters(index = "0", paramLabel = "KIND", description = "tool or model.")
        Kind kind;

        @Parameters(index = "1", paramLabel = "NAME", description = "Name in plans.")
        String name;

        @Parameters(index = "2", arity = "0..1", paramLabel = "CREDITS", description = "Price of a call of the tool.")
        @Nullable BigDecimal usd;

        @Option(names = "--input", paramLabel = "CREDITS",
                description = "Price of input tokens outside the provider's cache.")
        @Nullable BigDecimal input;

        @Option(names = "--cache-read", paramLabel = "CREDITS",
                description = "Price of input tokens read from the provider's cache; by default the price of input.")
        @Nullable BigDecimal cacheRead;

        @Option(names = "--cache-write", paramLabel = "CREDITS",
                description = "Price of input tokens written to the provider's cache; by default the price of input.")
        @Nullable BigDecimal cacheWrite;

        @Option(names = "--output", paramLabel = "CREDITS", description = "Price of output tokens, reasoning included.")
        @Nullable BigDecimal output;

        @Override
        protected void prepare() {
            boolean tokens = Stream.of(input, cacheRead, cacheWrite, output).anyMatch(Objects::nonNull);
            if (kind == Kind.TOOL && (usd == null || tokens)) {
                throw CliException.usage("INVALID_PRICE", "the price of a tool is CREDITS, without options");
            }
            if (kind == Kind.MODEL && (usd != null || input == null || output == null)) {
                throw CliException.usage("INVALID_PRICE", "a model needs --input and --output, and no CREDITS");
            }
        }

        @Override
        protected void run(Keelson keelson) {
            Prices prices = keelson.prices();
            show(usd != null ? prices.setTool(name, usd)
                    : prices.setModel(name, new TokenPrices(
                            Objects.requireNonNull(input), cacheRead, cacheWrite, Objects.requireNonNull(output))),
                    list -> lines(list, style()));
        }
    }

    @Command(name = "remove",
            description = "Removes a price from the list. Steps with a tool without a price cost what they report; a plan that names a model without a price is refused.",
            footer = "  keelson prices remove model large")
    static final class Remove extends ChangeCommand {

        @Parameters(index = "0", paramLabel = "KIND", description = "tool or model.")
        Set.Kind kind;

        @Parameters(index = "1", paramLabel = "NAME", description = "Name in plans.")
        String name;

        @Override
        protected void run(Keelson keelson) {
            String wire = kind.name().toLowerCase(Locale.ROOT);
            Prices prices = keelson.prices();
            if (prices.current().items().stream()
                    .noneMatch(price -> price.kind().equals(wire) && price.name().equals(name))) {
                throw CliException.failed("PRICE_NOT_FOUND", "the " + wire + " '" + name
                        + "' has no price; `" + ProgramName.current() + " prices` lists them");
            }
            show(kind == Set.Kind.TOOL ? prices.removeTool(name) : prices.removeModel(name),
                    list -> lines(list, style()));
        }
    }
}
