package io.keelson.bench.contender;

/** Who takes part. */
public enum ContenderKind {
    KEELSON("Keelson in process"), DBOS("DBOS Transact 1.1.0-m6"), SQL_LIMIT("set-wise SQL limit");

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
            case DBOS -> new Dbos(place);
            case SQL_LIMIT -> new SqlLimit(place);
        };
    }
}
