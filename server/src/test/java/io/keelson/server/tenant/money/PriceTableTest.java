package io.keelson.server.tenant.money;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.TokenPrices;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PriceTableTest {

    private static final PriceTable.Witness NO_WITNESS = (c, version, changes) -> {
    };

    private final Books books = new Books();
    private final PriceTable table = books.money.prices();

    @AfterEach
    void close() {
        books.close();
    }

    @Test
    void thereAreNonePricesAtFirst() {
        assertThat(table.current()).isEqualTo(new PriceListVersion(0, List.of()));
    }

    @Test
    void everyChangeIsAVersionAndOldOnesCanBeRead() {
        table.change(List.of(tool("search", "0.02"), model("large", "3")), "me", NO_WITNESS);
        table.change(List.of(model("large", "2.5")), "you", NO_WITNESS);
        PriceListVersion now = table.change(List.of(tool("search", null)), "me", NO_WITNESS);

        assertThat(now.version()).isEqualTo(3);
        assertThat(shown(now)).containsExactly("MODEL large 2.500000 since 2 by you");
        assertThat(table.current()).isEqualTo(now);
        assertThat(shown(table.at(1))).containsExactly("TOOL search 0.020000 since 1 by me",
                "MODEL large 3.000000 since 1 by me");
        assertThat(shown(table.at(2))).containsExactly("TOOL search 0.020000 since 1 by me",
                "MODEL large 2.500000 since 2 by you");
        assertThat(table.at(0)).isEqualTo(new PriceListVersion(0, List.of()));
    }

    @Test
    void unchangedPriceIsNoNewVersion() {
        table.change(List.of(tool("search", "0.02")), "me", NO_WITNESS);

        assertThat(table.change(List.of(tool("search", "0.020"), model("none", null)), "you", NO_WITNESS).version())
                .isOne();
    }

    @Test
    void changeOfOnePartIsANewVersion() {
        TokenPrices before = new TokenPrices(new BigDecimal("3"), new BigDecimal("0.3"), null, new BigDecimal("15"));
        TokenPrices after = new TokenPrices(new BigDecimal("3"), new BigDecimal("0.3"), new BigDecimal("3.75"),
                new BigDecimal("15"));
        table.change(List.of(PriceChange.model("large", before)), "me", NO_WITNESS);

        assertThat(table.change(List.of(PriceChange.model("large", before)), "me", NO_WITNESS).version()).isOne();
        PriceListVersion changed = table.change(List.of(PriceChange.model("large", after)), "me", NO_WITNESS);
        assertThat(changed.version()).isEqualTo(2);
        assertThat(after.same(changed.prices().getFirst().usdPerMillion())).isTrue();
        assertThat(before.same(table.at(1).prices().getFirst().usdPerMillion())).isTrue();
    }

    @Test
    void aPriceOfNothingIsAPrice() {
        assertThat(shown(table.change(List.of(model("free", "0")), "me", NO_WITNESS)))
                .containsExactly("MODEL free 0.000000 since 1 by me");
    }

    /** A tool and a model may be called the same. */
    @Test
    void kindsAreApart() {
        table.change(List.of(tool("x", "1"), model("x", "2")), "me", NO_WITNESS);

        assertThat(shown(table.change(List.of(tool("x", null)), "me", NO_WITNESS)))
                .containsExactly("MODEL x 2.000000 since 1 by me");
    }

    @Test
    void atOnceEveryChangeHasAVersionOfItsOwn() throws Exception {
        CyclicBarrier together = new CyclicBarrier(6);
        List<Callable<Integer>> hands = new ArrayList<>();
        for (int hand = 1; hand <= 6; hand++) {
            String usd = Integer.toString(hand);
            hands.add(() -> {
                together.await();
                return table.change(List.of(tool("tool " + usd, usd)), "me", NO_WITNESS).version();
            });
        }
        try (ExecutorService pool = Executors.newFixedThreadPool(6)) {
            List<Integer> versions = new ArrayList<>();
            for (Future<Integer> each : pool.invokeAll(hands)) {
                versions.add(each.get());
            }
            assertThat(versions).containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 6).boxed().toList());
        }
        assertThat(table.current().prices()).hasSize(6);
    }

    private static PriceChange tool(String name, @Nullable String usd) {
        return PriceChange.tool(name, usd == null ? null : new BigDecimal(usd));
    }

    private static PriceChange model(String name, @Nullable String usd) {
        return PriceChange.model(name, usd == null ? null : TokenPrices.flat(new BigDecimal(usd)));
    }

    private static List<String> shown(PriceListVersion list) {
        return list.prices().stream().map(price -> price.kind() + " " + price.name() + " " + usd(price) + " since "
                + price.version() + " by " + price.createdBy()).toList();
    }

    private static @Nullable BigDecimal usd(PriceRow price) {
        return price.usdPerMillion() == null ? price.usdPerCall() : price.usdPerMillion().output();
    }
}
