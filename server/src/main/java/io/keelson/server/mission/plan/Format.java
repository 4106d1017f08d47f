package io.keelson.server.mission.plan;

import java.util.Locale;

/** How a mission is written down. */
public enum Format {
    JSON, YAML;

    /** By the file's name: {@code .json} is JSON, anything else YAML (which JSON nearly always is too). */
    public static Format ofFile(String name) {
        return name.toLowerCase(Locale.ROOT).endsWith(".json") ? JSON : YAML;
    }

    String malformed() {
        return "MALFORMED_" + name();
    }
}
