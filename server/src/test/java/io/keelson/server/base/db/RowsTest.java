package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Pages of rows, bounded in number and in bytes. */
class RowsTest {

    private static Database database;

    @BeforeAll
    static void open() {
        database = new Database(TestDatabase.createUrl(), DatabaseOptions.DEFAULTS);
        execute("create sequence made");
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void aPageOfSmallRowsEndsAtItsLimit() {
        assertThat(page(10, 100, 30)).isEqualTo(new Page<>(IntStream.rangeClosed(1, 30).boxed().toList(), true));
        assertThat(page(10, 30, 30).more()).isFalse();
        assertThat(page(10, 0, 30)).isEqualTo(new Page<>(List.of(), false));
    }

    @Test
    void aPageOfLargeRowsEndsAfter4MiBAndReadsFewMore() {
        execute("alter sequence made restart");

        Page<Integer> page = page(1 << 20, 500, 500);

        assertThat(page.items()).containsExactly(1, 2, 3, 4);
        assertThat(page.more()).isTrue();
        assertThat(made()).as("rows that PostgreSQL made").isLessThan(40);
    }

    @Test
    void aRowLargerThanAPageIsAPage() {
        assertThat(page(5 << 20, 2, 10)).isEqualTo(new Page<>(List.of(1), true));
    }

    @Test
    void theConnectionCommitsEachStatementAsBefore() {
        assertThat(database.<Boolean>withConnection(c -> {
            try (var query = c.prepareStatement("select 1")) {
                Rows.page(query, 1, row -> row.getInt(1));
            }
            return c.getAutoCommit();
        })).isTrue();
    }

    private static Page<Integer> page(int bytes, int rows, int limit) {
        return database.withConnection(c -> {
            try (var query = c.prepareStatement(
                    "select n, repeat('x', ?), nextval('made') from generate_series(1, ?) n limit ?")) {
                query.setInt(1, bytes);
                query.setInt(2, rows);
                query.setInt(3, limit + 1);
                return Rows.page(query, limit, row -> row.getInt(1));
            }
        });
    }

    private static long made() {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery("select last_value from made")) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    private static void execute(String sql) {
        database.runInTransaction(c -> {
            try (var statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }
}
