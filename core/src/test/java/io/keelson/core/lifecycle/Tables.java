package io.keelson.core.lifecycle;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tables written as text: {@code left -> right, right}, one line each. */
final class Tables {

    private Tables() {}

    static Map<String, List<String>> read(String text) {
        Map<String, List<String>> table = new LinkedHashMap<>();
        for (String line : text.lines().toList()) {
            String[] sides = line.split("->", -1);
            List<String> targets = sides[1].isBlank() ? List.of() : Arrays.asList(sides[1].strip().split(", "));
            if (table.put(sides[0].strip().replaceAll(" +", " "), targets) != null) {
                throw new IllegalArgumentException("twice: " + line);
            }
        }
        return table;
    }
}
