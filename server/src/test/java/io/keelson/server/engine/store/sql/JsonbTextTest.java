package io.keelson.server.engine.store.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.sql.ResultSet;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Compares texts with a column of type {@code jsonb}, as the server reads it. */
class JsonbTextTest {
    private static final List<String> NUMBERS = List.of("0", "-0", "-0.0", "1.50", "1e3", "1.0E10", "1.000e2", "1E-7",
            "12345678901234567890", "0.1000000000000000055", "-1.20e-3", "1e20", "5e0", "10.0e1");
    private static final List<String> NAMES =
            List.of("a", "b", "aa", "ä", "ö", "zz", "", "\\\"", "€", "abc", "\\uD83D\\uDE00", "B");

    @Test
    void textsAreThoseOfTheDatabase() throws Exception {
        try (Database database = TestDatabase.create()) {
            Random random = new Random(7);
            for (int i = 0; i < 500; i++) {
                String json = value(random, 3);
                assertThat(Json.read(String.valueOf(JsonbText.of(json)))).as(json)
                        .isEqualTo(Json.read(readBack(database, json)))
                        .hasToString(Json.read(readBack(database, json)).toString());
            }
        }
    }

    @Test
    void numberThatTheDatabaseMayRefuseHasNoText() {
        assertThat(JsonbText.of("[1e200000]")).isNull();
        assertThat(JsonbText.of("{\"a\": 1e-20000}")).isNull();
    }

    private static String readBack(Database database, String json) {
        return database.withConnection(c -> {
            try (var statement = c.prepareStatement("select ?::jsonb::text")) {
                statement.setString(1, TextColumns.storableJson(json));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getString(1);
                }
            }
        });
    }

    private static String value(Random random, int depth) {
        return switch (random.nextInt(depth == 0 ? 4 : 7)) {
            case 0 -> NUMBERS.get(random.nextInt(NUMBERS.size()));
            case 1 -> "\"" + NAMES.get(random.nextInt(NAMES.size())) + "\"";
            case 2 -> List.of("true", "false", "null").get(random.nextInt(3));
            case 3 -> "\"line\\n\\t\\u0007\"";
            case 4 -> IntStream.range(0, random.nextInt(4)).mapToObj(i -> value(random, depth - 1))
                    .collect(Collectors.joining(",", "[", "]"));
            default -> IntStream.range(0, random.nextInt(6))
                    .mapToObj(i -> "\"" + NAMES.get(random.nextInt(NAMES.size())) + "\": " + value(random, depth - 1))
                    .collect(Collectors.joining(",", "{", "}"));
        };
    }
}
