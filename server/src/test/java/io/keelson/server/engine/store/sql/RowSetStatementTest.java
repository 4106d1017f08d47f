package io.keelson.server.engine.store.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.RunFixtures;
import io.keelson.server.engine.store.sql.RowSetStatement.Moment;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A single row is stored like the same row in an array. */
class RowSetStatementTest {
    private record Row(@Nullable UUID id, @Nullable String text, @Nullable Integer count) {
        private @Nullable Long big() {
            return count == null ? null : count * 10_000_000_000L;
        }
    }

    private static final RowSetStatement<Row> INSERT = new RowSetStatement<>("of_each",
            "insert into those select u.*, {now} from {rows}", Column.uuid("id", Row::id),
            Column.text("text", Row::text), Column.word("word", Row::text),
            Column.json("json", row -> row.text == null ? null : "{\"text\": \"" + row.text + "\"}"),
            Column.integer("int", Row::count), Column.bigint("big", Row::big),
            Column.real("real", row -> row.count == null ? null : row.count / 3.0),
            Column.money("money", row -> row.big() == null ? null : BigDecimal.valueOf(row.big(), 6)),
            Column.flag("flag", row -> row.count != null),
            Column.time("time", row -> row.count == null ? null : Instant.ofEpochSecond(row.count, 1_000)));

    @Test
    void aSingleRowIsStoredLikeOneInAnArray() throws SQLException {
        try (Database database = TestDatabase.create(); Connection c = database.dedicatedConnection()) {
            RunFixtures.execute(c, """
                    create type of_each as (id uuid, text text, word text, json jsonb, int int4, big int8, real float8,
                        money numeric, flag bool, time timestamptz)""");
            RunFixtures.execute(c,
                    "create table those as select u.*, now() as at from (select (null::of_each).*) u limit 0");
            for (Row row : List.of(new Row(null, null, null), new Row(new UUID(1, 2), "", 0),
                    new Row(new UUID(-1, -2), "ünï 'code'", -7), new Row(null, null, 1), new Row(null, "a", null))) {
                RunFixtures.execute(c, "truncate those");
                insert(c, row, true);
                insert(c, row, false);
                assertThat(distinct(c)).as("%s", row).isEqualTo("2 1");
            }
        }
    }

    private static void insert(Connection c, Row row, boolean alone) throws SQLException {
        Part<Row> part = INSERT.of(List.of(row));
        try (PreparedStatement statement = c.prepareStatement(part.sql(alone))) {
            part.bind(statement, 1, alone, new Moment(Instant.EPOCH, null));
            statement.executeUpdate();
        }
    }

    /** The number of rows, and of different ones. */
    private static String distinct(Connection c) throws SQLException {
        try (PreparedStatement read = c.prepareStatement("select count(*), count(distinct t::text) from those t");
                ResultSet row = read.executeQuery()) {
            row.next();
            return row.getInt(1) + " " + row.getInt(2);
        }
    }
}
