package io.keelson.core.sim;

import io.keelson.core.money.Prices;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import java.util.List;

/**
 * What must hold after every commit, judged by one run's rows before and after it and by its events. The laws are
 * independent of the code under test.
 */
final class Laws {
    private final RunRows before;
    private final RunRows after;
    private final List<Event> events;
    private final Prices prices;
    private final List<EngineOutage> outages;

    /** @param before null for a run that the commit makes */
    Laws(RunRows before, RunRows after, List<Event> events, Prices prices, List<EngineOutage> outages) {
        this.before = before;
        this.after = after;
        this.events = events;
        this.prices = prices;
        this.outages = outages;
    }

    void check() {
        new EventLaws(before, after).check(events);
        new CountLaws(after).check();
        new WorkLaws(after).check();
        new MoneyLaws(before, after, prices).check(events);
        new EffectLaws(before, after).check(events);
        new VoteLaws(before, after).check(events);
        new TimeLaws(before, outages).check(events);
    }
}
