package io.keelson.server.json;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** JSON whose numbers keep every digit: as doubles, 0.1000000000000000055 were 0.1. */
public final class ExactJson {
    public static final JsonMapper MAPPER =
            JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private ExactJson() {}
}
