package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Colours of states against their backgrounds, and each other as colour-blind people see them. */
class ColoursTest {

    private static final List<String> FAMILIES =
            List.of("waits", "queued", "works", "person", "backoff", "done", "failed", "ended");
    private static final Pattern COLOUR = Pattern.compile("--([a-z-]+): #([0-9a-f]{6})");

    private static Map<String, int[]> theme(boolean dark) {
        String css = new String(WebSources.read(null).get("look/1-tokens.css"), StandardCharsets.UTF_8);
        int second = css.indexOf("[data-theme='dark']");
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

    /** Machado, Oliveira and Fernandes 2009, severity 1: what is left of linear red, green and blue. */
    private static final Map<String, double[][]> BLINDNESS = Map.of(
            "protan", new double[][] {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
                    {-0.003882, -0.048116, 1.051998}},
            "deutan", new double[][] {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
                    {-0.011820, 0.042940, 0.968881}},
            "tritan", new double[][] {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602},
                    {0.004733, 0.691367, 0.303900}});

    /** As CIELAB under D65. */
    private static double[] lab(int[] rgb, double[][] seen) {
        double[] linear = new double[3];
        for (int i = 0; i < 3; i++) {
            double part = rgb[i] / 255.0;
            linear[i] = part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
        }
        double[] c = new double[3];
        for (int i = 0; i < 3; i++) {
            c[i] = Math.clamp(seen[i][0] * linear[0] + seen[i][1] * linear[1] + seen[i][2] * linear[2], 0, 1);
        }
        double x = f((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.95047);
        double y = f(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
        double z = f((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.08883);
        return new double[] {116 * y - 16, 500 * (x - y), 200 * (y - z)};
    }

    private static double f(double t) {
        return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16.0 / 116;
    }

    private static double distance(double[] one, double[] other) {
        return Math.hypot(Math.hypot(one[0] - other[0], one[1] - other[1]), one[2] - other[2]);
    }

    /** Families that share a grey differ by their icon, their pattern and the line through the word. */
    private static final Set<Set<String>> BY_SHAPE = Set.of(Set.of("waits", "ended"));

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void colourBlindPeopleTellTheFamiliesApart(boolean dark) {
        Map<String, int[]> colours = theme(dark);
        List<String> alike = new ArrayList<>();
        BLINDNESS.forEach((kind, seen) -> {
            for (String one : FAMILIES) {
                for (String other : FAMILIES) {
                    double apart = distance(lab(colours.get(one), seen), lab(colours.get(other), seen));
                    if (one.compareTo(other) < 0 && apart < 15 && !BY_SHAPE.contains(Set.of(one, other))) {
                        alike.add("%s: %s and %s are %.1f apart".formatted(kind, one, other, apart));
                    }
                }
            }
        });
        assertThat(alike).isEmpty();
    }

    /** The chosen one of a row of tabs or views, beside its group. */
    @Test
    void chosenTabIsSeenInTheDark() {
        Map<String, int[]> colours = theme(true);
        assertThat(contrast(colours.get("chosen"), colours.get("sunken"))).isGreaterThan(1.4);
        assertThat(contrast(colours.get("text"), colours.get("chosen"))).isGreaterThan(4.5);
    }
}
