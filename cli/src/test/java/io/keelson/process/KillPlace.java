package io.keelson.process;

import io.keelson.process.HeldProxy.Hold;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where a program, its worker or its server is killed: a point of the protocol, at which a proxy holds a request or an answer. */
enum KillPlace {
    BEFORE_REQUEST_1(Victim.PROGRAM, Way.PROGRAM, 1, null, false),
    BEFORE_REQUEST_2(Victim.PROGRAM, Way.PROGRAM, 2, null, false),
    BEFORE_REQUEST_3(Victim.PROGRAM, Way.PROGRAM, 3, null, false),
    REQUEST_1_HELD(Victim.PROGRAM, Way.PROVIDER, 1, null, false),
    IN_TEXT_1(Victim.PROGRAM, Way.PROGRAM, 1, Marks.TEXT, true),
    IN_TEXT_2_OF_THE_PROVIDER(Victim.PROGRAM, Way.PROVIDER, 2, Marks.TEXT, true),
    /** All calls are complete, and the answer has not ended. */
    AFTER_CALLS_1_OF_THE_PROVIDER(Victim.PROGRAM, Way.PROVIDER, 1, Marks.END, false),
    /** The tools have not been executed, or are being. */
    AFTER_ANSWER_1(Victim.PROGRAM, Way.PROGRAM, 1, Marks.END, true),
    AFTER_ANSWER_2(Victim.PROGRAM, Way.PROGRAM, 2, Marks.END, true),
    WORKER_REQUEST_1_HELD(Victim.WORKER, Way.PROVIDER, 1, null, false),
    WORKER_IN_TEXT_2(Victim.WORKER, Way.PROVIDER, 2, Marks.TEXT, true),
    WORKER_BEFORE_REQUEST_3(Victim.WORKER, Way.PROGRAM, 3, null, false),
    WORKER_BEFORE_REPORT(Victim.WORKER, Way.REPORT, 0, null, false),
    WORKER_BEFORE_REPLY(Victim.WORKER, Way.REPORT, 0, Marks.ANY, false),
    SERVER_BEFORE_REQUEST_1(Victim.SERVER, Way.PROGRAM, 1, null, false),
    /** The request is held and not sent. */
    SERVER_REQUEST_2_HELD(Victim.SERVER, Way.PROVIDER, 2, null, false, 1, 0),
    SERVER_IN_TEXT_2(Victim.SERVER, Way.PROVIDER, 2, Marks.TEXT, true, 1, 1),
    /** All calls are complete at the server, and held there. */
    SERVER_AFTER_CALLS_2(Victim.SERVER, Way.PROVIDER, 2, Marks.END, false, 1, 1),
    /** The answer is recorded. */
    SERVER_BEFORE_END_1_PASSES(Victim.SERVER, Way.PROGRAM, 1, Marks.END, false),
    SERVER_BEFORE_REPORT(Victim.SERVER, Way.REPORT, 0, null, false);

    /** The killed process. */
    enum Victim {
        PROGRAM, WORKER, SERVER
    }

    /** The way that a proxy is on. */
    private enum Way {
        /** From the program to the server. */
        PROGRAM("/gateway/"),
        /** From the server to the provider. */
        PROVIDER("/v1/"),
        /** From the worker to the server. */
        REPORT("/dispatch/complete");

        private final String line;

        Way(String line) {
            this.line = line;
        }
    }

    private static final class Marks {
        /** The first text of an answer. */
        static final Pattern TEXT =
                Pattern.compile("\"content\":\"\\w|response\\.output_text\\.delta|text_delta");
        /** The end of an answer, in its first event from the provider. */
        static final Pattern END = Pattern.compile(
                "\"finish_reason\":\"|event: response\\.completed|event: message_stop");
        static final Pattern ANY = Pattern.compile("(?s).");
    }

    final Victim victim;
    /** Requests whose answers are lost with the server. */
    final int lost;
    /** Requests that the provider gets a second time. */
    final int sentAgain;
    private final Way way;
    private final int number;
    private final @Nullable Pattern mark;
    private final boolean marksPass;

    KillPlace(Victim victim, Way way, int number, @Nullable Pattern mark, boolean marksPass) {
        this(victim, way, number, mark, marksPass, 0, 0);
    }

    KillPlace(Victim victim, Way way, int number, @Nullable Pattern mark, boolean marksPass, int lost, int sentAgain) {
        this.victim = victim;
        this.way = way;
        this.number = number;
        this.mark = mark;
        this.marksPass = marksPass;
        this.lost = lost;
        this.sentAgain = sentAgain;
    }

    /** Whether it is one point for all programs of a worker, which reports one after the other. */
    boolean reports() {
        return way == Way.REPORT;
    }

    /**
     * Holds what passes at this place.
     *
     * @param gate on the way to the server
     * @param provider on the way to the provider
     * @param key part of all requests of the program
     */
    Hold hold(HeldProxy gate, HeldProxy provider, String key) {
        HeldProxy proxy = way == Way.PROVIDER ? provider : gate;
        String of = reports() ? "" : key;
        return mark == null ? proxy.request(way.line, of, number)
                : marksPass ? proxy.after(way.line, of, number, mark) : proxy.before(way.line, of, number, mark);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
