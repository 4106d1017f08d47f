package io.keelson.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Colours of states against their backgrounds, and each other as colour-blind people see them. */
class ColoursTest {

    private static final List<String> FAMILIES =
            List.of("waits", "queued", "works", "person", "backoff", "done", "failed", "ended");
    private static final Pattern COLOUR = Pattern.compile("--([a-z-]+): #([0-9a-f]{6})");

    private static Map<String, int[]> theme(boolean dark) {
        String css = new String(WebSources.read(null).get("look/1-tokens.css"), StandardCharsets.UTF_8);
        int second = css.indexOf("[data-theme=\"dark\"]");
        Map<String, int[]> colours = new HashMap<>();
        Matcher matcher = COLOUR.matcher(dark ? css.substring(second) : css.substring(0, second));
        while (matcher.find()) {
            int rgb = Integer.parseInt(matcher.group(2), 16);
            colours.put(matcher.group(1), new int[] {rgb >> 16, rgb >> 8 & 255, rgb & 255});
        }
        return colours;
    }

    private static double luminance(int[] rgb) {
        double[] linear = new double[3];
        for (int i = 0; i < 3; i++) {
            double part = rgb[i] / 255.0;
            linear[i] = part <= 0.03928 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    }

    private static double contrast(int[] one, int[] other) {
        double a = luminance(one);
        double b = luminance(other);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void textHasContrastOfFourAndAHalfAndShapesOfThree(boolean dark) {
        Map<String, int[]> colours = theme(dark);
        List<String> weak = new ArrayList<>();
        for (String family : FAMILIES) {
            for (String background : List.of("surface", "hover", family + "-tint")) {
                if (contrast(colours.get(family + "-text"), colours.get(background)) < 4.5) {
                    weak.add(family + "-text on " + background);
                }
            }
            if (contrast(colours.get(family), colours.get("surface")) < 3) {
                weak.add(family + " on surface");
            }
        }
        assertThat(weak).isEmpty();
    }
}
