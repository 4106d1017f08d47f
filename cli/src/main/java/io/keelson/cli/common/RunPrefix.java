package io.keelson.cli.common;

import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.RunFilter;
import io.keelson.client.RunQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The first characters of a run's id, as a user types them or a narrow table shows them. An id begins with the time at which it was
 * made (UUID, version 7), so that older runs are found by the time at which they were created.
 *
 * @param text in lower case, with the hyphens of an id
 */
record RunPrefix(String text) {

    private static final Pattern FORM = Pattern.compile("([0-9a-f-]{4,35})(…|\\.{3})?");

    /** Runs that are read at a time. */
    private static final int PAGE = 200;
    /** Pages that are read of the runs of its time. */
    private static final int PAGES = 10;
    /** Digits of an id that are its time in milliseconds. */
    private static final int TIME_DIGITS = 12;
    private static final int HEX = 16;
    /** Ids of times until the year 2527 begin with it. */
    private static final String THIS_AGE = "0";
    /** Maximum difference of the clocks of ids and of creation times. */
    private static final Duration CLOCKS = Duration.ofSeconds(10);

    /** The prefix that an argument is; empty for whole ids and other texts. */
    static Optional<RunPrefix> of(String argument) {
        Matcher form = FORM.matcher(argument);
        return form.matches() ? Optional.of(new RunPrefix(form.group(1))) : Optional.empty();
    }

    /**
     * The id of the only run with this prefix, among the newest runs, or else among the runs of its time.
     *
     * @throws CliException RUN_NOT_FOUND or RUN_AMBIGUOUS
     */
    String whole(Keelson keelson) {
        return whole(keelson, PAGE);
    }

    /** @param page runs that are read at a time */
    String whole(Keelson keelson, int page) {
        List<String> found = among(keelson, RunQuery.all().limit(page), 1);
        if (found.isEmpty() && text.startsWith(THIS_AGE)) {
            RunFilter ofItsTime = RunFilter.all().createdAfter(earliest().minus(CLOCKS))
                    .createdBefore(latest().plus(CLOCKS));
            found = among(keelson, RunQuery.of(ofItsTime).limit(page), PAGES);
        }
        if (found.size() > 1) {
            throw CliException.failed("RUN_AMBIGUOUS", "the ids of several runs begin with '" + text
                    + "'; give more characters");
        }
        if (found.isEmpty()) {
            throw CliException.failed("RUN_NOT_FOUND", "none of the newest " + page + " runs begins with '" + text
                    + "', and none of " + page * PAGES + " runs of that time; give the whole id");
        }
        return found.getFirst();
    }

    /** The ids with this prefix on the first page with any. */
    private List<String> among(Keelson keelson, RunQuery query, int pages) {
        Page<Run> page = keelson.runs().list(query);
        List<String> found = page.items().stream().map(Run::id).filter(id -> id.startsWith(text)).toList();
        return found.isEmpty() && pages > 1 && page.nextCursor() != null
                ? among(keelson, query.from(page.nextCursor()), pages - 1)
                : found;
    }

    /** The earliest time of an id with this prefix. */
    Instant earliest() {
        return time('0');
    }

    /** The latest time of an id with this prefix. */
    Instant latest() {
        return time('f');
    }

    private Instant time(char rest) {
        String digits = text.replace("-", "") + String.valueOf(rest).repeat(TIME_DIGITS);
        return Instant.ofEpochMilli(Long.parseLong(digits.substring(0, TIME_DIGITS), HEX));
    }
}
