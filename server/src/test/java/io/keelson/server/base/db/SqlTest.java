package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.db.RecordColumns.Column;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class SqlTest {

    private static Database database;

    enum Level {
        LOW, HIGH;

        String wire() {
            return "level " + name().charAt(0);
        }
    }

    enum Colour {
        RED, GREEN
    }

    record Size(int width, @Nullable Long height) {}

    record Thing(UUID id, String name, @Column("made_by") @Nullable String maker, boolean closed, Level level,
            @Nullable Colour colour, Size size, Instant createdAt, Duration ageSeconds,
            BigDecimal price, ObjectNode inputs, List<String> tags) {}

    private static final RecordColumns<Thing> THING = RecordColumns.of(Thing.class);

    private static final Thing CHAIR = new Thing(new UUID(1, 2), "a :chair?", null, true, Level.HIGH, Colour.GREEN,
            new Size(3, null), Instant.parse("2026-11-21T13:30:00.123456Z"), Duration.ofMinutes(2),
            new BigDecimal("1.250000"), Json.object().put("a", 1), List.of("x", "y"));

    @BeforeAll
    static void create() {
        database = Database.open(TestDatabase.text(TestDatabase.createEmptyUrl()));
        database.runInTransaction(c -> Sql
                .of("""
                create table things (id uuid, name text not null, made_by text, closed boolean, level text, colour text, width int,
                    height bigint, created_at timestamptz, age_seconds int, price numeric(20, 6), inputs jsonb, tags text[])""")
                .on(c).update());
    }

    @AfterAll
    static void close() {
        database.close();
    }

    private static @Nullable String text(String sql, @Nullable String value) {
        return database.<@Nullable String>withConnection(c -> Sql.of(sql).on(c).set("value", value)
                .<@Nullable String>one(row -> row.getString("text")));
    }

    @Test
    void nameIsAParameterInEachPlace() {
        assertThat(text("select :value || '-' || :value as text", "a")).isEqualTo("a-a");
    }

    @Test
    void castsLiteralsAndSlicesAreNoParameters() {
        assertThat(text("select (array[:value::text, ':x ? ''y'])[1:2]::text as text", "a"))
                .isEqualTo("{a,\":x ? 'y\"}");
    }

    @Test
    void aParameterWithoutANameIsRefused() {
        assertThatThrownBy(() -> Sql.of("select ?")).hasMessageContaining("a parameter without a name: select ?");
    }

    @Test
    void anUnknownNameAndAMissingValueAreRefused() {
        database.runInTransaction(c -> {
            Sql.Call call = Sql.of("select :one + :two").on(c).set("one", 1);
            assertThatThrownBy(() -> call.set("three", 3)).hasMessageContaining("no parameter :three in: select");
            assertThatThrownBy(call::exists).hasMessageContaining("no value for :two in: select");
        });
    }

    @Test
    void timeIsTheClocks() {
        Instant then = Instant.parse("2026-11-21T13:30:00Z");
        Instant now = database.withConnection(c -> Sql.of("select {now} as at where {now} < now()").on(c)
                .at(() -> then).one(row -> Rows.time(row, "at")));

        assertThat(now).isEqualTo(then);
    }

    /** The driver prepares again when the type of a parameter changes, which the first null without a type does once. */
    @Test
    void nullKeepsThePreparedStatement() {
        Sql query = Sql.of("select :id::uuid, :at::timestamptz, :n::int, :big::bigint, :b::boolean, :x::numeric,"
                + " :bytes::bytea, :texts::text[], :ids::uuid[] from things where name = :name");

        int executions = database.withConnection(c -> {
            for (int i = 0; i < 3; i++) {
                filled(query.on(c), CHAIR.id, CHAIR.createdAt, 1, 1L, true, CHAIR.price, new byte[] {1},
                        List.of("a"), List.of(CHAIR.id), "x").exists();
                filled(query.on(c), null, null, null, null, null, null, null, null, null, null).exists();
            }
            return Sql.of("select generic_plans + custom_plans as n from pg_prepared_statements"
                    + " where statement like 'select $1::uuid%'")
                    .on(c).one(row -> row.getInt("n"));
        });

        assertThat(executions).isGreaterThanOrEqualTo(5);
    }

    private static Sql.Call filled(Sql.Call call, @Nullable UUID id, @Nullable Instant at, @Nullable Integer n,
            @Nullable Long big, @Nullable Boolean b, @Nullable BigDecimal x, byte @Nullable [] bytes,
            @Nullable List<String> texts, @Nullable List<UUID> ids, @Nullable String name) {
        return call.set("id", id).set("at", at).set("n", n).set("big", big).set("b", b).set("x", x)
                .set("bytes", bytes).setTexts("texts", texts).setUuids("ids", ids).set("name", name);
    }

    @Test
    void aRecordIsWrittenAndReadByTheNamesOfItsComponents() {
        Thing other = new Thing(new UUID(1, 3), "table", "ann", false, Level.LOW, null, new Size(3, 4L),
                CHAIR.createdAt, Duration.ZERO, CHAIR.price, Json.object(), List.of());
        List<Thing> read = database.inTransaction(c -> {
            insert(c, CHAIR);
            insert(c, other);
            return Sql.of("select " + THING.names() + " from things order by id").on(c).all(THING);
        });

        assertThat(read).containsExactly(CHAIR, other);
    }

    private static void insert(Connection c, Thing thing) throws SQLException {
        Sql.of("insert into things (" + THING.names() + ") values (" + THING.parameters() + ")").on(c).set(thing)
                .update();
    }

    @Test
    void listsOfAStatementComeFromTheRecord() {
        RecordColumns<Size> size = RecordColumns.of(Size.class);

        assertThat(size.names()).isEqualTo("width, height");
        assertThat(size.assignments()).isEqualTo("width = :width, height = :height");
        assertThat(THING.parameters()).startsWith(":id, :name, :made_by, ").contains(", :inputs::jsonb, ");
    }

    @Test
    void aNestedRecordIsNullWhereAllItsColumnsAre() {
        record Boxed(String name, @Nullable Size size) {}

        assertThat(read("select 'a' as name, null::int as width, null::bigint as height", Boxed.class).size()).isNull();
        assertThat(read("select 'a' as name, 1 as width, null::bigint as height", Boxed.class).size())
                .isEqualTo(new Size(1, null));
    }

    @Test
    void nullAndUnknownWordsAreRefusedByTheColumnsName() {
        record Painted(String name, Colour colour) {}

        assertThatThrownBy(() -> read("select null::text as name, 'red' as colour", Painted.class))
                .hasMessage("the column name is null");
        assertThatThrownBy(() -> read("select 'a' as name, 'blue' as colour", Painted.class))
                .hasMessage("the column colour is blue, not one of [red, green]");
    }

    private static <T extends Record> T read(String sql, Class<T> type) {
        return database.withConnection(c -> Sql.of(sql).on(c).one(RecordColumns.of(type)));
    }

    @Test
    void aPageAsksForOneRowMore() {
        Page<Integer> page = database.withConnection(c -> Sql
                .of("select n from generate_series(1, 3) n where n = any (:some) order by n limit :limit").on(c)
                .setLongs("some", Arrays.asList(1L, 2L, 3L)).page(2, row -> row.getInt("n")));

        assertThat(page).isEqualTo(new Page<>(List.of(1, 2), true));
    }
}
