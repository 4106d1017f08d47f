package io.keelson.bench.scenario;

import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.RunCopies;
import java.util.Locale;
import java.util.Map;

/** How long a claim of ten steps takes when a million are queued, against one when no more are queued than it needs. */
public final class DeepQueue implements Scenario {
    public static final String TITLE = "Claims of ten steps";
    public static final String SHALLOW = "a nearly empty queue";
    private static final int CLAIMS = 20;
    private static final int EACH = 10;

    @Override
    public String name() {
        return "deep-queue";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public boolean hasOneTurn() {
        return true;
    }

    /** As tables show the variant. */
    public static String deep(int rows) {
        return String.format(Locale.ROOT, "%,d queued", rows);
    }

    @Override
    public void measure(Bench bench) throws Exception {
        Sizes sizes = bench.sizes();
        try (ContenderProcess contender = bench.start(Map.of("executors", "0"))) {
            contender.preload(1);
            RunCopies copies = RunCopies.ofTheOnlyRun(bench.turn().url());
            contender.preload(CLAIMS * EACH);
            contender.claim(CLAIMS, EACH);
            for (int round = 1; round <= sizes.rounds(); round++) {
                contender.preload(CLAIMS * EACH);
                claims(bench.inRound(round), SHALLOW, contender);
            }
            copies.insert(sizes.queued());
            contender.claim(1, EACH);
            for (int round = 1; round <= sizes.rounds(); round++) {
                claims(bench.inRound(round), deep(sizes.queued()), contender);
            }
        }
    }

    private static void claims(Bench bench, String variant, ContenderProcess contender) throws Exception {
        bench.latency(variant, bench.watch(() -> contender.claim(CLAIMS, EACH)));
    }
}
