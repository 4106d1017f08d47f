package io.keelson.server.tenant.money;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.money.Tokens;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageTest {

    private static final Instant FROM = Instant.parse("2026-11-01T00:00:00Z");
    private static final Instant TO = Instant.parse("2026-12-01T00:00:00Z");

    private static Books books;
    private static UUID workspace;

    @BeforeAll
    static void open() {
        books = new Books();
        workspace = books.workspace();
        charge(workspace, 1, "0.5", "search", null, null, 0, "2026-11-20T23:59:59.999Z");
        charge(workspace, 1, "0.25", "search", "large", "writer", 100, "2026-11-21T00:00:00Z");
        charge(workspace, 2, "2", "write", "large", "writer", 900, "2026-11-21T12:00:00Z");
        charge(workspace, 2, "8", "write", "large", "writer", 900, "2026-12-01T00:00:00Z");
        charge(books.workspace(), 3, "100", "write", "large", "writer", 900, "2026-11-21T12:00:00Z");
        books.grant(workspace, "7", "g");
    }

    @AfterAll
    static void close() {
        books.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "DAY   | 2026-11-20 0.500000 0 1 1 | 2026-11-21 2.250000 1000 2 2",
            "TOOL  | write 2.000000 900 1 1    | search 0.750000 100 2 1",
            "MODEL | large 2.250000 1000 2 2   | null 0.500000 0 1 1",
            "AGENT | writer 2.250000 1000 2 2  | null 0.500000 0 1 1",
            "PURPOSE | work 2.250000 1000 2 2 | verification 0.500000 0 1 1"})
    void isSummedUp(UsageReader.By by, String first, String second) {
        UsageReader.Report report = books.money.usage().report(workspace, List.of(by), null, FROM, TO);

        assertThat(report.lines()).extracting(UsageTest::shown).containsExactly(first, second);
        assertThat(shown(report.total())).isEqualTo("null 2.750000 1000 3 2");
        assertThat(report.total().tokens()).isEqualTo(new Tokens(400, 100, 100, 400, 200));
        assertThat(report.complete()).isTrue();
    }

    @Test
    void hoursAreInOrder() {
        assertThat(books.money.usage().report(workspace, List.of(UsageReader.By.HOUR), null, FROM, TO).lines())
                .extracting(UsageTest::shown).containsExactly("2026-11-20T23:00:00.000Z 0.500000 0 1 1",
                        "2026-11-21T00:00:00.000Z 0.250000 100 1 1", "2026-11-21T12:00:00.000Z 2.000000 900 1 1");
    }

    @Test
    void twoPartsDivideEachOther() {
        UsageReader.Report report = books.money.usage().report(workspace,
                List.of(UsageReader.By.DAY, UsageReader.By.TOOL), null, FROM, TO);

        assertThat(report.lines()).extracting(UsageTest::shown).containsExactly("2026-11-20/search 0.500000 0 1 1",
                "2026-11-21/write 2.000000 900 1 1", "2026-11-21/search 0.250000 100 1 1");
        assertThat(report.total().credits()).isEqualByComparingTo("2.75");
    }

    @Test
    void nothingIsNothing() {
        UsageReader.Report report = books.money.usage().report(workspace, List.of(UsageReader.By.DAY), null,
                TO.plusSeconds(1), TO.plusSeconds(2));

        assertThat(report.lines()).isEmpty();
        assertThat(shown(report.total())).isEqualTo("null 0.000000 0 0 0");
    }

    @Test
    void manyLinesAreCutAndTheTotalIsWhole() {
        UUID busy = books.workspace();
        for (int i = 0; i <= UsageReader.MAX_LINES; i++) {
            charge(busy, 1, "0.1", "tool " + i, null, null, 1, "2026-11-21T12:00:00Z");
        }

        UsageReader.Report report = books.money.usage().report(busy, List.of(UsageReader.By.TOOL), null, FROM, TO);

        assertThat(report.lines()).hasSize(UsageReader.MAX_LINES);
        assertThat(report.complete()).isFalse();
        assertThat(report.total().charges()).isEqualTo(UsageReader.MAX_LINES + 1);
        assertThat(report.total().credits()).isEqualByComparingTo("100.1");
    }

    private static String shown(UsageReader.Line line) {
        return String.join(" ", List.of(line.of().stream().map(String::valueOf).collect(Collectors.joining("/")),
                line.credits().toPlainString(),
                Long.toString(line.tokens().total()), Long.toString(line.charges()), Long.toString(line.runs())));
    }

    private static void charge(UUID workspace, int run, String amount, String tool, String model, String agent,
            long tokens, String at) {
        books.execute("""
                insert into billing_ledger (workspace_id, transaction_type, amount, debit_account, credit_account,
                    run_id, attempt_number, step_id, idempotency_key, tool, model, agent, tokens, usage, actor_type,
                    created_at, purpose)
                values ('%s', 'charge', %s, 'reserved', 'spent', '00000000-0000-7000-8000-00000000000%d', 1,
                    gen_random_uuid(), gen_random_uuid(), '%s', %s, %s, %d, '%s', 'agent', '%s', %s)""".formatted(
                workspace, amount, run, tool, quoted(model), quoted(agent), tokens, parts(tokens), at,
                quoted(agent == null ? "verification" : null)));
    }

    /** A tenth of the input is from the cache and a tenth into it; half of the rest is output. */
    private static String parts(long tokens) {
        long tenth = tokens / 10;
        long half = (tokens - 2 * tenth) / 2;
        return """
                {"input": %d, "cache_read": %d, "cache_write": %d, "output": %d, "reasoning": %d}"""
                .formatted(tokens - 2 * tenth - half, tenth, tenth, half, half / 2);
    }

    private static String quoted(String text) {
        return text == null ? "null" : "'" + text + "'";
    }
}
