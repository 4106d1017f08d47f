package io.keelson.bench.report;

/**
 * The meaning of a number.
 *
 * @param name with its unit, for tables
 * @param moreIsBetter whether a higher value is better
 */
public record Measure(String name, boolean moreIsBetter) {
    public static final Measure RUNS_PER_SECOND = new Measure("runs/s", true);
    public static final Measure REQUESTS_PER_SECOND = new Measure("requests/s", true);
    public static final Measure FIRST_BYTE_P50 = new Measure("first byte, p50 ms", false);
    public static final Measure TRANSITIONS_PER_SECOND = new Measure("transitions/s", true);
    public static final Measure P50 = new Measure("p50 ms", false);
    public static final Measure P99 = new Measure("p99 ms", false);
    public static final Measure MICROS_PER_STEP = new Measure("µs per step", false);
    public static final Measure STATEMENTS_PER_SECOND = new Measure("statements/s", false);
    public static final Measure RESIDENT_MB = new Measure("resident MB", false);
    public static final Measure READY_SECONDS = new Measure("s until ready", false);
    public static final Measure CLAIMED_SECONDS = new Measure("s until claimed again", false);
    public static final Measure ALL_ENDED_SECONDS = new Measure("s until all had ended", false);
    public static final Measure TRANSACTIONS = new Measure("transactions", false);
    public static final Measure CONNECTIONS = new Measure("database connections", false);
    public static final Measure THREADS = new Measure("threads", false);
    public static final Measure DATABASE_MS = new Measure("database ms", false);
    public static final Measure SERVER_MS = new Measure("server ms", false);
    public static final Measure CLIENT_MS = new Measure("client ms", false);
    public static final Measure COMPILER_MS = new Measure("compilers ms", false);
    public static final Measure DATABASE_KERNEL_MS = new Measure("database, kernel ms", false);
    public static final Measure CLIENT_KERNEL_MS = new Measure("client, kernel ms", false);
    public static final Measure LOG_KB = new Measure("log (WAL) KB", false);
    public static final Measure LOG_WAIT = new Measure("waits for the log %", false);
    public static final Measure PROCESSOR = new Measure("processor %", false);
    public static final Measure MESSAGE_WAIT = new Measure("waits for a message %", false);
    public static final Measure OTHER_WAIT = new Measure("other waits %", false);
    public static final Measure FAILED_RUNS = new Measure("runs not completed", false);
}
