package io.keelson.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Everything measured in one go, in the order in which it was. Safe for several threads. */
public final class Results {
    private final List<Sample> samples = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final Map<String, String> circumstances = new LinkedHashMap<>();

    public synchronized void add(Sample sample) {
        samples.add(sample);
    }

    /** Notes that a contender was not measured in a scenario, and why. */
    public synchronized void skip(String scenario, String contender, String why) {
        skipped.putIfAbsent(scenario + ", " + contender, why);
    }

    /** Notes a circumstance of a scenario, such as the means of a limit. */
    public synchronized void circumstance(String name, String value) {
        circumstances.put(name, value);
    }

    public synchronized Map<String, String> circumstances() {
        return new LinkedHashMap<>(circumstances);
    }

    public synchronized List<Sample> samples() {
        return List.copyOf(samples);
    }

    /** Measurements that were skipped, with the reason. */
    public synchronized Map<String, String> skipped() {
        return new LinkedHashMap<>(skipped);
    }

    /** The median of all rounds; empty when it was not measured. */
    public OptionalDouble median(String scenario, String variant, String contender, Measure metric) {
        List<Sample> found = samples().stream().filter(s -> s.scenario().equals(scenario)
                && s.variant().equals(variant) && s.contender().equals(contender) && s.metric().equals(metric))
                .toList();
        return found.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(SampleSummary.of(found).median());
    }
}
