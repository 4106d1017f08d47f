package io.keelson.bench.report;

/**
 * One measured number.
 *
 * @param variant within the scenario, such as {@code 32 in flight}
 * @param contender its title
 * @param round from 1
 * @param others percent of all processors' time that others used meanwhile; NaN where that is not known
 */
public record Sample(String scenario, String variant, String contender, Measure metric, int round, double value,
        double others) {}
