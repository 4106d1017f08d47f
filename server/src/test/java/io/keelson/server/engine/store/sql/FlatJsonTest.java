package io.keelson.server.engine.store.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is written by hand reads as what a mapper would have written. */
class FlatJsonTest {

    @Test
    void readsBackAsWhatWasPut() {
        StringBuilder every = new StringBuilder();
        for (char c = 1; c < 0x300; c++) {
            every.append(c);
        }
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("text", every + "\u2028 \uD83D\uDE00");
        values.put("a \"name\"\n", "back\\slash");
        values.put("count", 3);
        values.put("share", 0.0001);
        values.put("flag", true);
        values.put("names", List.of("a", "\"b\""));
        values.put("none", new ArrayList<>());
        FlatJson json = new FlatJson();
        values.forEach(json::put);
        json.put("nothing", null);
        values.put("nothing", null);

        assertThat(Json.read(json.toString()))
                .isEqualTo(Json.read(Json.MAPPER.writeValueAsString(values)));
        assertThat(new FlatJson().toString()).isEqualTo("{}");
    }
}
