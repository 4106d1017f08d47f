package io.keelson.core.schedule;

import java.util.BitSet;
import java.util.List;
import java.util.Locale;

/** One field of a cron expression: the set of its numbers. */
final class CronField {
    private static final int TEXT = 200;

    private final String what;
    private final int least;
    private final int most;
    private final List<String> names;

    /**
     * @param what its name for people
     * @param names names of its numbers, the first for the lowest; empty if absent
     */
    CronField(String what, int least, int most, List<String> names) {
        this.what = what;
        this.least = least;
        this.most = most;
        this.names = names;
    }

    /** @throws Cron.Malformed with the problem */
    BitSet read(String text) {
        if (text.isEmpty() || text.length() > TEXT) {
            throw malformed(text, "is empty or too long");
        }
        BitSet admitted = new BitSet(most + 1);
        for (String part : text.split(",", -1)) {
            read(part, admitted);
        }
        return admitted;
    }

    private void read(String part, BitSet admitted) {
        String[] stepped = part.split("/", -1);
        if (stepped.length > 2) {
            throw malformed(part, "has two steps");
        }
        String[] range = stepped[0].split("-", -1);
        if (range.length > 2) {
            throw malformed(part, "is no range");
        }
        boolean all = stepped[0].equals("*");
        int from = all ? least : number(range[0]);
        int to = all || range.length == 1 && stepped.length == 2 ? most : number(range[range.length - 1]);
        if (to == 0 && from > 0 && !names.isEmpty()) {
            to = most; // Sunday at the end of a range
        }
        int step = stepped.length == 1 ? 1 : digits(stepped[1]);
        if (step < 1 || step > most) {
            throw malformed(part, "has a step that is not from 1 to " + most);
        }
        if (from > to) {
            throw malformed(part, "ends before it begins");
        }
        for (int i = from; i <= to; i += step) {
            admitted.set(i);
        }
    }

    private int number(String text) {
        int named = names.indexOf(text.toUpperCase(Locale.ROOT));
        int number = named >= 0 ? named + least : digits(text);
        if (number < least || number > most) {
            throw malformed(text, "is not from " + least + " to " + most);
        }
        return number;
    }

    private int digits(String text) {
        if (!text.matches("[0-9]{1,4}")) {
            throw malformed(text, "is no number" + (names.isEmpty() ? "" : " and none of " + String.join(", ", names)));
        }
        return Integer.parseInt(text);
    }

    private Cron.Malformed malformed(String part, String why) {
        String shown = part.length() > 40 ? part.substring(0, 40) + "…" : part;
        return new Cron.Malformed("the " + what + " '" + shown + "' " + why);
    }
}
