package io.keelson.bench.contender;

/** Who takes part. */
public enum ContenderKind {
    KEELSON("Keelson in process"), KEELSON_HTTP("Keelson over HTTP"), DBOS("DBOS Transact 1.1.0-m6"), RESTATE(
            "Restate 1.7.12"),
    DB_SCHEDULER("db-scheduler 16.12.0"), JOBRUNR("JobRunr 8.7.0"), SQL_LIMIT(
            "set-wise SQL limit");

    private final String title;

    ContenderKind(String title) {
        this.title = title;
    }

    /** As tables show it. */
    public String title() {
        return title;
    }

    /** Starts it in this process. */
    Contender start(Place place) throws Exception {
        return switch (this) {
            case KEELSON -> new KeelsonEngine(place);
            case KEELSON_HTTP -> new KeelsonHttp(place);
            case DBOS -> new Dbos(place);
            case RESTATE -> new Restate(place);
            case DB_SCHEDULER -> new DbScheduler(place);
            case JOBRUNR -> new JobRunrJobs(place);
            case SQL_LIMIT -> new SqlLimit(place);
        };
    }
}
