package io.keelson.bench.scenario;

import io.keelson.bench.contender.ContenderKind;
import io.keelson.bench.contender.Work;
import io.keelson.bench.lab.ContenderProcess;
import io.keelson.bench.lab.ProcessorLimit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Server processes on the same database, fewer and fewer of them, each limited to a share of the processors, so that the database has
 * room. All are warmed together, so a server is as warm alone as with others. Clients go to all in turn. Each server has as many runs in flight as one alone, so that its commits are as large.
 */
public final class Servers implements Scenario {
    private static final int CALLERS_EACH = 32;
    /** Of all processors: with four servers the database has half of the rest. */
    private static final double SHARE = 0.075;
    public static final String TITLE = "Servers on one database, each with 7.5 % of the processors and " + CALLERS_EACH
            + " runs of ten steps in flight";

    @Override
    public String name() {
        return "servers";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<ContenderKind> contenders() {
        return List.of(ContenderKind.KEELSON_HTTP);
    }

    @Override
    public boolean hasOneTurn() {
        return true;
    }

    /** As tables show the variant. */
    public static String servers(int number) {
        return number == 1 ? "1 server" : number + " servers";
    }

    /**
     * Warm-up has no limit, because compilers would take minutes under it, and then the limit, under which commits have other sizes. Servers
     * stop one after another.
     */
    @Override
    public void measure(Bench bench) throws Exception {
        int callers = bench.sizes().callers(CALLERS_EACH);
        double share = SHARE * Runtime.getRuntime().availableProcessors();
        List<Integer> numbers = bench.sizes().servers().stream().sorted(Comparator.reverseOrder()).toList();
        int most = numbers.getFirst();
        try (ContenderProcess contender = bench.start(Map.of("nodes", Integer.toString(most)))) {
            bench.warm(contender, most, most * callers, Work.TEN_STEPS);
            for (int number : numbers) {
                contender.keep(number);
                try (ProcessorLimit limit = contender.limitServers(share)) {
                    bench.results().circumstance("limit of each server", limit.means());
                    if (number == most) {
                        bench.warm(contender, most * callers, Work.TEN_STEPS);
                    }
                    for (int round = 1; round <= bench.sizes().rounds(); round++) {
                        bench.inRound(round).runs(servers(number), contender, Work.TEN_STEPS, number * callers);
                    }
                }
            }
        }
    }
}
